"""Lines of the log: the request and the organization are in each; fields are chosen, never dumped.

Keys, tokens, bodies and query strings are never logged.
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


def _on_one_line(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """A value cannot begin a new line, or colour one: whoever chose it could forge an entry of the log."""
    for name, value in event.items():
        if isinstance(value, str) and not value.isprintable():
            event[name] = value.encode("unicode_escape").decode()
    return event


def configure(level: str, style: str) -> None:
    """Format our own lines and those of the libraries alike."""
    renderer: Any = structlog.processors.JSONRenderer()
    if style != "json":
        # The plain traceback, because the default one shows local variables, and a key may be among them.
        renderer = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _without_secrets,
        _on_one_line,
        structlog.processors.format_exc_info,
    ]
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.basicConfig(level=max(number, logging.WARNING), handlers=[handler], force=True)


def logger(name: str) -> structlog.typing.FilteringBoundLogger:
    return structlog.get_logger(source=name)
