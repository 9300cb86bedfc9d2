# Generated from _async/__init__.py by `make sdk-sync`. Change that file.
"""The synchronous client."""
