"""Gatepass: one card, many tickets, each activated exactly once."""

__version__ = "0.1.0"
