"""The commands of `gatepass`."""
