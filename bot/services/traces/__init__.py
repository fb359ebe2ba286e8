"""A trace of each request, from the click to the ledger, for whoever collects them.

Here nobody does: what is called is done and kept nowhere. `bot.tracing` sends it.

Whatever is done for a request belongs to one trace, by whichever process and however much later: its id is made of the
request's id, so nothing has to be handed on or stored. No part of it names a person, an amount or a card.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

__all__ = ["Fact", "Span", "Traces"]

#: What may be said of a part of a trace.
Fact = str | int | bool


class Span:
    """A part of a trace that is under way."""

    def note(self, **facts: Fact) -> None:
        """What it came to."""


class Traces:
    """Parts of traces. A part that is begun within another one is shown below it."""

    @contextmanager
    def click(self, name: str) -> Iterator[None]:
        """What somebody does in Slack. It belongs to the trace of the request that it turns out to be about, if any."""
        yield

    def acked(self) -> None:
        """Slack has our answer to the click."""

    def submitted(self, request_id: str, **facts: Fact) -> None:
        """The click, if it was one, has made this request: its trace begins with it."""

    @contextmanager
    def of(self, request_id: str, name: str, **facts: Fact) -> Iterator[Span]:
        """Something that is done for a request. An error that ends it is noted by its kind."""
        yield Span()

    def since(self, request_id: str, name: str, began_at: datetime, **facts: Fact) -> None:
        """Something about a request that began then, and ends now."""

    def took(self, name: str, seconds: float, *, failed: bool = False, **facts: Fact) -> None:
        """A call that has just ended; kept where it was made within a part of a trace."""
