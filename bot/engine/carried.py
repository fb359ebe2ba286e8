"""What a carrier is given: queues of ids that are due, what does the work of one, and the transaction of a change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol


class Queue(Protocol):
    """Ids that are due, the longest due first, of which `at_once` may be worked on together; None = all of them."""

    @property
    def name(self) -> str: ...
    @property
    def ids(self) -> Sequence[str]: ...
    @property
    def at_once(self) -> int | None: ...


#: Names what is due, without these ids, in queues that do not wait for one another.
Due = Callable[[Collection[str]], Awaitable[Sequence[Queue]]]
#: Does the work of one id.
Execute = Callable[[str], Awaitable[None]]


class Transaction(Protocol):
    """As `storage.transaction.Tx`: what happens in it is durable together, or never was."""

    connection: Any

    def after_commit(self, callback: Callable[[], None]) -> None: ...

    def savepoint(self) -> AbstractAsyncContextManager[None]: ...
