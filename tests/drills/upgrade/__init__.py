"""The upgrade drill: `make upgrade-drill`."""
