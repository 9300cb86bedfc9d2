"""DOOR: the command line, `gatepass`; one file for each command."""
