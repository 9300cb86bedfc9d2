"""The interface description in parts; `document.py` puts them together."""
