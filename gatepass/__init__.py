"""Gatepass: one card, many tickets, each activated exactly once."""

__version__ = "0.2.0"
