"""A release: `make release`."""
