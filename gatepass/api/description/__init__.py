"""The interface description, part by part; `openapi.py` puts it together."""
