"""Malformed requests and uploads in great number, against a running server. `python -m tests.fuzz --help`."""
