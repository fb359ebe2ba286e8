"""Logging: every logger of the standard library in one stream, written by structlog as JSON or for a terminal.

Modules log with `logging.getLogger("countersign.…")`: a dotted name of the event, its values in `extra`.

Nothing secret should reach a log call at all (secrets are `Secret`, personal details are sealed). The
redaction here is the second net: it masks by the name of a field and by the look of a value, and it is
the last thing that happens before a line is written, tracebacks and foreign loggers included.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping
from typing import IO, Any, Literal

import structlog
from structlog.typing import EventDict, WrappedLogger

MASK = "[hidden]"

#: Fields whose value is never written, whatever it looks like.
_HIDDEN_FIELDS = re.compile(
    r"(?i)(^|_)(key|token|secret|password|authorization|cookie|phone|mobile|email|details_url|exchange_url|pan|cvv|otp"
    r"|private|payload|body|headers|env|environ)$"
)
#: Values that are secret or personal by their look.
_HIDDEN_VALUES = re.compile(
    r"""
    svc_live_(?![0-9a-f]{8}(?![\w-]))[\w-]+     # Partner API keys; their prefix alone may be quoted
    | whsec_[A-Za-z0-9+/=_-]+                   # webhook secrets
    | \b(?:xox[a-z]|xapp|xwfp)-[A-Za-z0-9-]+    # Slack tokens
    | \bv1\.[0-9a-f]{12}\.[A-Za-z0-9_-]+        # sealed values: useless alone, but no business here
    | [A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+   # e-mail addresses
    | (?<=/details\#)[\w-]+                     # the token of a link to card details
    | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)           # user:password in an address
    | \b(?:\d[ -]?){12,18}\d\b                  # card-number-like runs of digits
    | (?<![\w.])\+\d[\d ().-]{6,}\d             # international phone numbers
    """,
    re.VERBOSE,
)
#: `phone=…`, `"email": …` inside a text: the value after such a name goes, whatever it is.
_NAMED_IN_TEXT = re.compile(
    r"(?i)(\b(?:phone|mobile|email|details_url|exchange_url|otp|x-api-key|authorization|secret|token)\b[\"']?"
    r"\s*[=:]\s*[\"']?)"
    r"(?:Bearer\s+)?([^\s\"',;}&)]+)"
)

#: Loggers that would write addresses, headers or payloads at their chattier levels.
_CAPPED = (
    "httpx",
    "httpcore",
    "aiohttp.access",
    "slack_sdk",
    # By its own level the SDK decides whether to make a line of each call, which nobody would see.
    "slack_sdk.web.async_base_client",
    "slack_bolt",
    "asyncio",
    "apscheduler",
)


def _is_chatter(record: logging.LogRecord) -> bool:
    """Of a capped logger. Bolt gives its own loggers the root's level, so a level on their parent is not enough."""
    if record.levelno >= logging.WARNING:
        return False
    return any(record.name == name or record.name.startswith(f"{name}.") for name in _CAPPED)


def hide(text: str) -> str:
    """The text without what looks secret or personal."""
    text = _NAMED_IN_TEXT.sub(rf"\g<1>{MASK}", text)
    return _HIDDEN_VALUES.sub(MASK, text)


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """structlog processor: mask hidden fields and hidden values, at any depth."""
    return {name: _redacted(name, value) for name, value in event.items()}


def _redacted(name: str, value: Any) -> Any:
    if _HIDDEN_FIELDS.search(name) and value is not None:
        return MASK
    if isinstance(value, str):
        return hide(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): _redacted(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_redacted("", item) for item in value]
    return hide(str(value))


def configure(
    form: Literal["console", "json"] | None, *, stream: IO[str] | None = None, level: int = logging.INFO
) -> None:
    """Send every log line to `stream` (default standard error); None = console on a terminal, else JSON."""
    out = stream or sys.stderr
    console = form == "console" or (form is None and out.isatty())
    prepare: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if console else "iso", utc=not console),
        structlog.processors.StackInfoRenderer(),
        structlog.stdlib.ExtraAdder(),
    ]
    render: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=out.isatty()) if console else structlog.processors.JSONRenderer()
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=prepare,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,  # plain text, without local variables
                redact,
                render,
            ],
        )
    )
    handler.addFilter(lambda record: not _is_chatter(record))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _CAPPED:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
