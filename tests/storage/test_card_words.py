"""Cards are found by words kept in a table, and counted by rows that triggers write: as if each was looked at."""

import asyncio
import random
import string
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from bot.domain.cards import DELETED, CardEntry
from storage.cards import card_counts, card_words, cards
from storage.migrate import migrate
from storage.store import Store
from storage.transaction import Tx
from storage.vault import Keyring, Vault
from tests.storage.conftest import MASTER, Opener
from tests.storage.test_migrations import _copy_rows
from tests.support.clock import FrozenClock
from tests.support.databases import Databases
from tests.support.samples import examples

pytestmark = pytest.mark.by_turns(4)

FIRST = ("ALICE", "Álvaro", "BOB", "ANNE-MARIE", "Zoë", "o'Neil", "LI", "ALI", "active", "FRO")
LAST = ("MOREAU", "VAN DER BERG", "STONE", "STONE-HAM", "Åström", "NUÑEZ", "LI", "D'ARC", "")
REFERENCES = ("emp-{n:04}", "TEAM {n}", "x{n}", "Fleet_{n}/a", "{n}", None)
TYPED = (
    "al", "ali", "alice", "ALICE MOREAU", "mor", "moreau ali", "van", "berg", "der ber", "zoe", "astrom", "ström",
    "ham", "marie", "anne-m", "anne marie", "li li", "stone", "emp", "emp-00", "0007", "7", "team", "team 7", "fleet",
    "x1", "42", "4207", "••42", "froz", "frozen li", "active", "active bob", "act al", "cA001",
    "nobody", "o'n", "d'arc", "nunez",
)  # fmt: skip


def fleet(count: int = 120, seed: int = 5) -> list[CardEntry]:
    dice = random.Random(seed)
    made = []
    for n in range(count):
        reference = dice.choice(REFERENCES)
        made.append(
            CardEntry(
                id=f"cA{n:03}",
                program=dice.choice(["main", "other"]),
                holder=f"{dice.choice(FIRST)} {dice.choice(LAST)}".strip(),
                last4=dice.choice([None, f"{4200 + n % 30}"]),
                partner_ref=reference.format(n=n) if reference else None,
                status=dice.choice(["ACTIVE", "ACTIVE", "FROZEN", "BLOCKED", DELETED, None]),
            )
        )
    return made


def is_open(card: CardEntry) -> bool:
    return card.gone_at is None and card.status != DELETED


def says(card: CardEntry, word: str) -> bool:
    """Each card looked at: is the word what `cards.find` says it may be?"""
    key, digits = card_words.holder_key(word), word.lstrip("•*")
    name = card_words.holder_key(card.holder)
    parts = [name, *(name[n + 1 :] for n, char in enumerate(name) if char in " -")]
    return (
        any(part.startswith(key) for part in parts)
        or any(w.removeprefix("#").startswith(word.lower()) for w in words(card) if w.startswith("#"))
        or (card.status or "").lower().startswith(word.lower())
        or card.id == word
        or (digits.isdigit() and (card.last4 or "").startswith(digits))
    )


def words(card: CardEntry) -> frozenset[str]:
    return card_words.words_of(card.holder, card.last4, card.partner_ref)


async def test_what_is_offered_is_what_looking_at_each_card_gives(store: Store) -> None:
    made = fleet()
    async with store.begin() as tx:
        for program in ("main", "other"):
            await cards.put_many(tx, program, [c for c in made if c.program == program])
        offered = {typed: await cards.find(tx, typed, limit=1000) for typed in TYPED}
        listed = [c.holder for c in await cards.all(tx, limit=1000)]

    for typed, found in offered.items():
        expected = [c for c in made if is_open(c) and all(says(c, word) for word in typed.split())]
        assert {c.id for c in found} == {c.id for c in expected}, typed
        exact = [
            c.last4 == typed.lstrip("•*") or (c.partner_ref or "").lower() == typed.lower() for c in found
        ]
        assert exact == sorted(exact, reverse=True), f"{typed}: those that are just this first"
        places = [listed.index(c.holder) for c in found[sum(exact) :]]
        assert places == sorted(places), f"{typed}: then by holder"


async def test_a_text_that_many_cards_fit_gives_as_many_as_are_asked_for(store: Store) -> None:
    made = [
        CardEntry(f"c{n:04}", "main", f"SAME NAME{n % 7}", f"{n:04}", f"ref-{n}", "ACTIVE")
        for n in range(900)
    ]
    async with store.begin() as tx:
        await cards.put_many(tx, "main", made)
        for typed in ("", "same", "s", "name", "ref", "active", "same name", "active same"):
            assert len(await cards.find(tx, typed, limit=100)) == 100, typed
        (one,) = await cards.find(tx, "same ref-417", limit=100)
        named = await cards.match(tx, "same")

    assert one.id == "c0417"
    assert len(named) == cards.MOST_MEANT


@pytest.mark.parametrize(
    ("reference", "typed"),
    [
        ("TEAM-7", ("t", "team", "team-7", "7")),
        ("emp0042", ("emp", "emp0042", "0042", "42")),
        ("Paris office 3", ("paris", "office", "3")),
        ("a_b/c", ("a", "b", "c", "a_b")),
    ],
)
def test_a_reference_is_found_by_its_beginning_and_by_that_of_each_part(
    reference: str, typed: tuple[str, ...]
) -> None:
    found = card_words.words_of("", None, reference)

    for word in typed:
        assert any(one.startswith(f"#{word}") for one in found), word


async def test_words_follow_what_a_card_is_called_now(store: Store) -> None:
    card = CardEntry("c1", "main", "ALICE MOREAU", "4242", "emp-1", "ACTIVE")
    renamed = replace(card, holder="ALICE DUPONT", last4="4343", partner_ref=None)
    async with store.begin() as tx:
        await cards.put_many(tx, "main", [card])
        await cards.put_many(tx, "main", [card, renamed])  # a listing whose pages shifted shows a card twice
        kept = await tx.run(text("SELECT word FROM card_word WHERE card_id = 'c1'"))

        assert set(kept.scalars()) == words(renamed)


CHANGES = st.lists(
    st.one_of(
        st.tuples(
            st.just("put"),
            st.lists(
                st.tuples(
                    st.integers(0, 5),
                    st.sampled_from(["main", "other"]),
                    st.sampled_from(["ACTIVE", "FROZEN", DELETED, None]),
                    st.sampled_from(string.ascii_uppercase[:3]),
                ),
                max_size=6,
            ),
        ),
        st.tuples(
            st.just("status"), st.tuples(st.integers(0, 5), st.sampled_from(["ACTIVE", "BLOCKED", DELETED]))
        ),
        st.tuples(st.just("gone"), st.sampled_from(["main", "other"])),
        st.tuples(st.just("undone"), st.integers(0, 5)),
        st.tuples(st.just("summed"), st.none()),
    ),
    max_size=12,
)


@pytest.mark.sampled
def test_kept_counts_are_those_that_counting_gives_after_any_history(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = databases.migrated()
    monkeypatch.setattr(card_counts, "FEW", 1)
    clock = FrozenClock()
    with asyncio.Runner() as runner:
        store = runner.run(Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=clock))

        @settings(max_examples=examples(20, full=60))
        @given(CHANGES)
        def check(changes: list[tuple[str, Any]]) -> None:
            runner.run(_kept_is_counted(store, clock, changes))

        check()
        runner.run(store.close())
    databases.drop(url)


async def _kept_is_counted(store: Store, clock: FrozenClock, changes: list[tuple[str, Any]]) -> None:
    async with store.begin() as tx:
        await tx.run(text("DELETE FROM card_word"))
        await tx.run(text("DELETE FROM card"))
        mark = await card_counts.mark(tx)
    for what, value in changes:
        clock.advance(60)
        before = await _seen(store)
        async with store.begin() as tx:
            await _change(tx, what, value)
        async with store.read() as tx:
            for program in (None, "main", "other"):
                assert await card_counts.by_status(tx, program) == await _counted(tx, program)
            now = await card_counts.mark(tx)
        assert now != mark or await _seen(store) == before, (
            "the mark moves when people would see something else"
        )
        mark = now


async def _change(tx: Tx, what: str, value: Any) -> None:
    if what == "put":
        for program in ("main", "other"):
            rows = [CardEntry(f"c{n}", p, f"{h} {h}", None, None, s) for n, p, s, h in value if p == program]
            await cards.put_many(tx, program, rows)
    elif what == "status":
        await cards.set_status(tx, f"c{value[0]}", value[1])
    elif what == "gone":
        await cards.mark_gone(tx, value, seen_before=tx.now - timedelta(seconds=90))
    elif what == "summed":
        await card_counts.put_together(tx)
    else:

        async def undone() -> None:
            async with tx.savepoint():
                await cards.set_status(tx, f"c{value}", "BLOCKED")
                raise KeyError

        with pytest.raises(KeyError):
            await undone()


async def _counted(tx: Tx, program: str | None) -> Counter[str]:
    return Counter(c.status or "" for c in await cards.all(tx, program=program, limit=1000))


async def _seen(store: Store) -> list[CardEntry]:
    async with store.read() as tx:
        return await cards.all(tx, limit=1000)


async def test_cards_of_before_are_found_and_counted_after_the_upgrade(
    store: Store, url: str, empty_url: str, open_store: Opener
) -> None:
    made = [replace(c, program="main") for c in fleet()]
    async with store.begin() as tx:
        await cards.put_many(tx, "main", made)
        kept = await card_counts.by_status(tx)
        looked_for = {typed: [c.id for c in await cards.find(tx, typed, limit=1000)] for typed in TYPED}
    _copy_rows(url, empty_url, "0007", "card")

    await migrate(empty_url)

    upgraded = await open_store(empty_url)
    async with upgraded.begin() as tx:
        assert await card_counts.by_status(tx) == kept
        assert {
            typed: [c.id for c in await cards.find(tx, typed, limit=1000)] for typed in TYPED
        } == looked_for
        assert {row.word for row in await tx.run(text("SELECT word FROM card_word"))} == {
            w for c in made for w in words(c)
        }
        await cards.set_status(tx, made[0].id, "FROZEN")
        assert await card_counts.by_status(tx) == await _counted(tx, None)
