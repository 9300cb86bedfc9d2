"""Logs: one JSON object a line. Where a process serves, a thread of its own writes them: `background.py`."""

from gatepass.base.log.configuration import configure, logger

__all__ = ["configure", "logger"]
