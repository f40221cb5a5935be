"""Version of irmeta, importable by any subpackage."""

__version__ = "1.0.0rc1"
