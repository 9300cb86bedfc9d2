"""The description of what gates and their devices call."""
