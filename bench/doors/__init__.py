"""Live doors under load."""
