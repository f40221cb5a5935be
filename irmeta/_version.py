"""Version of irmeta, importable by any subpackage."""

__version__ = "0.1.0"
