"""Work that is done side by side, and the error of the piece that fails as it is.

A plain `asyncio.TaskGroup` raises what went wrong in a group. Whoever sees that group knows no more than that something
failed: the log names no cause, and a row that cannot be read is not looked for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import TracebackType
from typing import TypeVar

from storage.faults import is_out_of_use

T = TypeVar("T")

log = logging.getLogger("countersign.together")


class Together(asyncio.TaskGroup):
    """Tasks of which the first to fail ends the others. Raises its error itself; further ones of other kinds are
    logged."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        failed: tuple[BaseException, ...] = ()
        try:
            await super().__aexit__(kind, error, where)
        except BaseExceptionGroup as group:
            failed = group.exceptions
        _raise_first(failed)


async def each(works: Iterable[Awaitable[T]]) -> list[T]:
    """What each of them returns, in their order; one that fails ends no other. Raises the error of the first that
    failed in this order, once all are done; further ones of other kinds are logged."""
    found = await asyncio.gather(*works, return_exceptions=True)
    _raise_first([one for one in found if isinstance(one, BaseException)])
    return [one for one in found if not isinstance(one, BaseException)]


def _raise_first(failed: Iterable[BaseException]) -> None:
    errors = list(failed)
    if not errors:
        return
    for other in errors[1:]:
        if type(other) is not type(errors[0]):
            log.error("together.failed_too", exc_info=other)
    raise errors[0]


class _Each:
    """What is done for one of several."""

    def __init__(self) -> None:
        self.failed: Exception | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if is_out_of_use(error):
                raise
            self.failed = self.failed or error


@asynccontextmanager
async def each_by_itself() -> AsyncIterator[_Each]:
    """A request that somebody changed in the database is in the way of no other, whatever fails by it: the first error
    is raised when all had their turn. A database that is away or full is in the way of all: nothing more is tried."""
    each = _Each()
    yield each
    if each.failed is not None:
        raise each.failed
