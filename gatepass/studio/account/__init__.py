"""Signing in and up, and a person's own account."""
