"""The command line, `gatepass`."""
