"""Namespaces of `Store`, such as `Store.per_doc`: one file each."""
