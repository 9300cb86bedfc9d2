"""The restore drill: `make restore-drill`."""
