"""Measurements, each with its base of comparison, in one command each. See README.md."""

import structlog

from gatepass.base import log

# The tables alone: nobody wants the events of the organizations that are made for a measurement.
if not structlog.is_configured():
    log.configure("warning", "console")
