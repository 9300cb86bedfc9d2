"""Pages of devices: the list, one device, and pairing."""
