"""Logs: one JSON object a line."""

from gatepass.base.log.configuration import configure, logger

__all__ = ["configure", "logger"]
