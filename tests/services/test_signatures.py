"""What is signed as one thing is never taken for another, and what an installation signed before still holds."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.requests import Request, State, decision_bytes, request_digest
from bot.services.requests import signatures, verification
from storage.requests import decisions
from storage.vault import PURPOSES
from tests.services.bulk_requests import a_list, ask_bulk, rows_of, run_to_the_end
from tests.services.outcome_steps import execute
from tests.support.world import BOB, World

ROOT = Path(__file__).parents[2]


def labels_that_fit(world: World, data: bytes, mac: str) -> set[str]:
    return {purpose for purpose in PURPOSES if world.store.vault.check_mac(purpose, data, mac)}


async def signed_in(world: World, request: Request) -> tuple[set[str], set[str]]:
    """The labels under which its digest was signed, and its decisions."""
    terms = labels_that_fit(world, request_digest(request).encode(), request.digest)
    async with world.store.read() as tx:
        made = await decisions.of(tx, request.id)
    return terms, {label for d in made for label in labels_that_fit(world, decision_bytes(d), d.mac)}


async def test_terms_and_decisions_are_signed_under_labels_of_their_own(world: World) -> None:
    request = await world.top_up("50")
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)

    for signed in (request, batch, *await rows_of(world, batch)):
        terms, made = await signed_in(world, signed)
        assert len(terms) == len(made) == 1
        assert not terms & made


def test_each_label_of_what_is_signed_about_a_request_is_named_in_one_place() -> None:
    places = {"approval_mac": decisions, "request_digest": signatures, "token_hash": signatures}
    for label, place in places.items():
        # Columns have names of their own, and a door names what it lets out.
        rooms = (
            p
            for p in (*ROOT.glob("bot/**/*.py"), *ROOT.glob("storage/requests/*.py"))
            if p.name != "__init__.py"
        )
        found = [p for p in rooms if re.search(rf"['\"]{label}['\"]", p.read_text())]
        assert [str(p) for p in found] == [place.__file__], label


async def test_what_was_signed_under_the_former_label_is_approved_sent_and_proved(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database from before the terms had a label of their own: nothing in it has to be written again."""
    monkeypatch.setattr(signatures, "_TERMS", "approval_mac")
    request = await world.top_up("50", approved=False)
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    monkeypatch.undo()
    assert (await signed_in(world, request))[0] == {"approval_mac"}

    await world.approve(request)
    await world.approve(batch)

    assert (await execute(world, request)).state is State.SUCCEEDED
    assert (await run_to_the_end(world, batch)).state is State.SUCCEEDED
    for request_id in (request.id, batch.id, *(row.id for row in await rows_of(world, batch))):
        assert (await verification.verify(world.core, request_id)).holds


async def test_a_digest_under_any_other_label_is_none(world: World) -> None:
    request = await world.top_up("50", approved=False)
    vault, terms = world.store.vault, request_digest(request).encode()

    for label in PURPOSES - {"request_digest", "approval_mac"}:
        forged = replace(request, digest=vault.mac(label, terms))
        assert not signatures.has_its_digest(vault, forged), label


async def test_a_signature_of_terms_stands_for_no_decision(world: World) -> None:
    request = await world.top_up("50")
    async with world.store.read() as tx:
        [decision] = await decisions.of(tx, request.id)
    assert decision.actor == BOB

    assert decisions.is_genuine(world.store.vault, decision)
    assert not decisions.is_genuine(world.store.vault, replace(decision, mac=request.digest))
    assert not decision_bytes(decision)[:1].isalnum(), "a digest begins with a digit of hex"
