# Made of _async/__init__.py by `make sdk-sync`. Change that one.
"""The synchronous client."""
