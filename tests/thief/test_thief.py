"""Whoever edits the database while the bot works can stop it, and cannot direct it. `make soak` makes 20,000 edits."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path

import pytest

from tests.support.databases import PostgresDatabases
from tests.support.walks import drawn
from tests.thief import programme
from tests.thief.open_holes import WITHOUT

SAMPLE = 5
KNOWN_ONE_IN = 5
KNOWN_SAMPLE = 1
AT_ONCE = 100  # stories between two lines of progress


@pytest.mark.sampled
@pytest.mark.timeout(300)  # dozens of stories, each in a world of its own
async def test_what_a_thief_has_thought_of_gives_nothing(tmp_path: Path) -> None:
    """One in five by turns, which change with the commit; `make soak` tries all."""
    assert await programme.known_holes(tmp_path, names=drawn(programme.KNOWN, KNOWN_ONE_IN)) == {}


@pytest.mark.sampled
@pytest.mark.timeout(300)
async def test_what_a_thief_has_thought_of_gives_nothing_on_postgresql(
    tmp_path: Path, postgres_databases: PostgresDatabases
) -> None:
    """What closes a hole is the same code on both: every run tries some of them here, `make soak` all."""
    names = list(programme.KNOWN)
    if os.environ.get("SOAK") != "1":
        names = random.SystemRandom().sample(names, KNOWN_SAMPLE)

    assert await programme.known_holes(tmp_path, postgres_databases, names=names) == {}


async def test_edits_by_chance_of_any_table_give_nothing(tmp_path: Path) -> None:
    first = secrets.randbelow(1_000_000)

    figures = await programme.by_chance(tmp_path, range(first, first + SAMPLE))

    assert figures.wrong == {}
    assert figures.edits


@pytest.mark.soak
@pytest.mark.parametrize("name", WITHOUT)
async def test_the_thief_finds_each_hole_where_what_closes_it_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    WITHOUT[name](monkeypatch)

    assert list(await programme.known_holes(tmp_path, names={name})) == [name]


@pytest.mark.soak
@pytest.mark.parametrize("on", ["SQLite", "PostgreSQL"])
async def test_twenty_thousand_edits_give_nothing(
    tmp_path: Path, postgres_databases: PostgresDatabases, on: str
) -> None:
    first, wanted = int(os.environ.get("SEED", "0")), int(os.environ.get("SOAK_EDITS", "10000"))
    where = postgres_databases if on == "PostgreSQL" else None
    stories, edits, tables = 0, 0, set[str]()

    while edits < wanted:
        figures = await programme.by_chance(
            tmp_path, range(first + stories, first + stories + AT_ONCE), where
        )
        stories, edits, tables = (
            stories + figures.stories,
            edits + figures.edits,
            tables | set(figures.tables),
        )
        print(
            f"{on}: {edits} edits of {len(tables)} tables in {stories} stories from seed {first}", flush=True
        )
        assert figures.wrong == {}
