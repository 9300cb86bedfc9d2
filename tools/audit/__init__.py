"""The dependency audit: `make audit`."""
