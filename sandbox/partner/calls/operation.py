"""What an operation of the API is, for routing, faults and OpenAPI, and what several of them share."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property

from sandbox.partner.calls.call import Call
from sandbox.partner.http import Answer
from sandbox.partner.schemas import Field, Schema, integer

Handler = Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True)
class Operation:
    """`codes` are the error codes beyond the common ones, by status.

    `processor`: it asks the card processor. `midway`: it has two commits with a crash point between.
    `waits`: an injected delay is spent inside the handler. `method_first`: a wrong method is refused
    before the key is looked at (card-details routes).
    """

    method: str
    path: str
    scope: str
    handler: Handler
    answer: Schema
    body: Schema | None = None
    query: tuple[Field, ...] = ()
    keyed: bool = False
    midway: bool = False
    processor: bool = False
    waits: bool = False
    method_first: bool = False
    status: int = 200
    scope_source: str = "spec"
    codes: dict[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Method and path, as the control calls name an operation."""
        return f"{self.method} {self.path}"

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The path as a pattern; its groups are the values of the path."""
        return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.path))


PAGED = (
    integer("limit", minimum=0, maximum=100, default=50, required=False),
    integer("page", minimum=0, default=1, required=False),
)
CARD_ERRORS: dict[int, tuple[str, ...]] = {400: ("BAD_REQUEST",), 404: ("NOT_FOUND",)}
PROCESSOR_ERRORS = {502: ("UNAVAILABLE",), 503: ("UPSTREAM_AUTH",)}
