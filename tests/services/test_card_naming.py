"""What names a card in a form, a command or a list is never guessed: several that fit are asked about."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from sqlalchemy import delete

from bot.domain.cards import CardEntry, NamedBy
from bot.domain.errors import InvalidFields, NotFound
from bot.domain.requests import Unreadable
from bot.services.requests import batch_reading, drafts, resolve_card
from storage import tables as t
from storage.cards import cards
from storage.store import Store
from tests.support.world import ALICE, World

DIGITS = ("3205", "1111", "2008")
HOLDERS = ("ANNA", "ANNA LEE", "LEE", "AGENT 3205", "3205", "ACME BERLIN")
REFS = ("3205", "1111", "2008", "anna", "ANNA LEE", "TEAM-7", None)
TYPED = (*DIGITS, "Anna", "anna", "Anna Lee", "lee", "AGENT 3205", "TEAM-7", "id-0", "••3205")


def a_directory(drawn: random.Random) -> list[CardEntry]:
    """Two to five cards of which last fours, references and names run into each other."""
    return [
        CardEntry(
            f"id-{n}", "main", drawn.choice(HOLDERS), drawn.choice(DIGITS), drawn.choice(REFS), "ACTIVE"
        )
        for n in range(drawn.randrange(2, 6))
    ]


def exactly_called(found: list[CardEntry], typed: str) -> set[str]:
    """The rule in plain words: last four, reference, id or whole name are what was typed."""
    four = typed.lstrip("•*")
    return {c.id for c in found if c.last4 == four or typed in (c.partner_ref, c.id)} | {
        c.id for c in found if c.holder.casefold() == typed.casefold()
    }


BY_HEADER: dict[str, Callable[[CardEntry, str], bool]] = {
    "last4": lambda card, typed: card.last4 == typed.lstrip("•*"),
    "partner_ref": lambda card, typed: card.partner_ref == typed,
    "reference": lambda card, typed: card.partner_ref == typed,
    "card_id": lambda card, typed: card.id == typed,
    "holder": lambda card, typed: card.holder.casefold() == typed.casefold(),
}


@dataclass
class Entrance:
    """One way in: the id of the card that a text is settled on, or the sentence that asks back."""

    world: World

    async def by_form(self, typed: str) -> tuple[str, str]:
        texts = {"card": typed, "amount_usd": "5"}
        try:
            draft = await drafts.begin(
                self.world.core, owner=ALICE, kind="card_topup", texts=texts, reason="because"
            )
        except InvalidFields as asked:
            return "", asked.errors["card"]
        return draft.values["card"], ""

    async def by_list(self, typed: str, header: str = "card") -> tuple[str, str]:
        text = f"{header},amount\n{typed},5"
        try:
            read = await batch_reading.begin(self.world.core, owner=ALICE, text=text, kind="card_topup")
        except Unreadable as asked:
            return "", str(asked)
        return read.rows[0].operation.subject, ""

    async def by_command(self, typed: str) -> tuple[str, str]:
        async with self.world.store.read() as tx:
            try:
                return (await resolve_card(tx, typed)).id, ""
            except NotFound as asked:
                return "", str(asked)


@pytest.fixture
async def entrance(world: World) -> Entrance:
    return Entrance(world)


async def keep(store: Store, found: list[CardEntry]) -> None:
    """These cards and no others."""
    async with store.begin() as tx:
        await tx.run(delete(t.card_word))
        await tx.run(delete(t.card))
        await cards.put_many(tx, "main", found)


@pytest.mark.parametrize("seed", range(3))
async def test_a_text_that_names_several_cards_is_asked_about_through_every_entrance(
    entrance: Entrance, seed: int
) -> None:
    drawn = random.Random(seed)
    for _ in range(6):
        found = a_directory(drawn)
        await keep(entrance.world.store, found)
        for typed in drawn.sample(TYPED, 4):
            called = exactly_called(found, typed)
            for way in (entrance.by_form, entrance.by_list, entrance.by_command):
                settled, asked = await way(typed)
                if len(called) > 1:
                    assert not settled, f"{typed} is guessed to be {settled}: {found}"
                    assert all(c.label in asked and c.id in asked for c in found if c.id in called)
                elif called:
                    assert settled in (*called, ""), f"{typed} is taken for {settled}: {found}"


@pytest.mark.parametrize("seed", range(2))
async def test_a_header_that_says_what_it_holds_is_searched_for_that_alone(
    entrance: Entrance, seed: int
) -> None:
    drawn = random.Random(seed)
    for _ in range(6):
        found = a_directory(drawn)
        await keep(entrance.world.store, found)
        for header, fits in BY_HEADER.items():
            typed = drawn.choice(TYPED)
            called = [c.id for c in found if fits(c, typed)]
            settled, asked = await entrance.by_list(typed, header)

            if len(called) == 1:
                assert settled == called[0], (header, typed, found, asked)
            elif header != "holder" or called:  # of a holder, the beginnings of words name it too
                assert not settled, (header, typed, found)


async def test_a_reference_that_is_another_cards_last_four_tops_up_neither(entrance: Entrance) -> None:
    ends_so = CardEntry("id-0", "main", "ANNA", "3205", None, "ACTIVE")
    is_called_so = CardEntry("id-1", "main", "LEE", "1111", "3205", "ACTIVE")
    await keep(entrance.world.store, [ends_so, is_called_so])

    settled, asked = await entrance.by_form("3205")
    assert not settled
    assert asked == (
        "“3205” fits 2 cards: ANNA ••3205 (id id-0); LEE ••1111 (reference 3205, id id-1)."
        " Give the id of the one you mean."
    )
    assert (await entrance.by_list("3205", "partner_ref"))[0] == "id-1"
    assert (await entrance.by_list("3205", "last4"))[0] == "id-0"
    assert "No card has the name “3205”" in (await entrance.by_list("3205", "cardholder"))[1]


@pytest.mark.parametrize("by", NamedBy)
async def test_what_no_card_has_is_said_by_its_name(world: World, by: NamedBy) -> None:
    async with world.store.read() as tx:
        with pytest.raises(NotFound, match=f"No card has the {by} “nobody”"):
            await resolve_card(tx, "nobody", by)
