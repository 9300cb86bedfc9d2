"""Logs: one JSON object a line, with the request and the organization; fields are chosen, never dumped.

Keys, tokens, bodies and query strings are not fields that anyone may log.
"""

import logging
import sys
from typing import Any

import structlog

FORBIDDEN = frozenset({"authorization", "token", "api_key", "secret", "body", "query"})


def _without_secrets(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for name in FORBIDDEN & event.keys():
        event[name] = "***"
    return event


def configure(level: str, style: str) -> None:
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _without_secrets,
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
    ]
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=max(number, logging.WARNING), stream=sys.stderr, format="%(message)s", force=True)


def logger(name: str) -> structlog.typing.FilteringBoundLogger:
    return structlog.get_logger(source=name)
