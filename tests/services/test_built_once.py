"""What a process asks the database all by itself, again and again, is built once.

Making a statement of SQLAlchemy and finding out that it is known costs more than SQLite takes to answer it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from tests.support.world import World
from tests.thief.junk_walk import work_of

#: Work that is done once an hour or more seldom, or waits for people.
SELDOM = {"retention", "optimize", "audit-check", "unread", "digest", "policy"}
#: What goes on where it stopped is through all there is after so many turns.
TURNS = {"unreadable": 8}


@contextmanager
def executed(world: World) -> Iterator[list[Any]]:
    """The statements that were executed in the block."""
    found: list[Any] = []

    def notes(_connection: Any, statement: Any, *_: Any) -> None:
        found.append(statement)

    engines = [world.store._writer.sync_engine, world.store._reader.sync_engine]
    for engine in engines:
        event.listen(engine, "before_execute", notes)
    try:
        yield found
    finally:
        for engine in engines:
            event.remove(engine, "before_execute", notes)


async def test_what_a_process_does_by_itself_builds_no_statement_again(world: World) -> None:
    await world.top_up("50", approved=False)
    work = await work_of(world)
    close = work.pop("close")
    built_again: list[str] = []
    for name in sorted(work.keys() - SELDOM):
        with executed(world) as before:
            for _ in range(TURNS.get(name, 2)):
                await work[name]()
        known = {id(one) for one in before}
        with executed(world) as again:
            await work[name]()
        built_again += [
            f"{name}: {' '.join(str(one).split())[:150]}" for one in again if id(one) not in known
        ]

    await close()
    assert not built_again, "\n".join(built_again)
