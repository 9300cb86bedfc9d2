"""Devices: what an admin key sees and changes of them, what they call themselves, and how they are paired."""
