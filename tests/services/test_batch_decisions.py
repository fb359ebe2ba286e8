"""What an approver of a batch is shown of its rows: by the card's name, and as it is at that time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.domain.requests import Request, State, Unreadable
from bot.services import people
from bot.services.cards import card_sync
from bot.services.requests import batch_reading, batch_submission, batch_summary, request_lookups
from bot.view_models import BatchConfirmation
from storage.requests import requests as request_rows
from tests.services.bulk_requests import a_list, ask_bulk, rows_of, states_of
from tests.services.outcome_steps import execute, keys_sent
from tests.support.world import ALICE, BOB, World


async def shown_to_bob(world: World, batch: Request, page: int = 1) -> BatchConfirmation:
    standing = await people.standing(world.core)
    return await request_lookups.confirmation_of_batch(world.core, batch.id, BOB, standing, page)


async def set_status(world: World, card: int, status: str) -> None:
    """The card provider's hand: Countersign sees nothing of it."""
    answer = await world.control.post(f"/_control/cards/{world.cards[card]['id']}", json={"status": status})
    assert answer.status_code == 200


def label(world: World, card: int) -> str:
    found: dict[str, Any] = world.cards[card]
    return f"{found['card_holder_name']} ••{found['last4']}"


def texts(shown: BatchConfirmation) -> list[str]:
    return [concern.text for concern in shown.found.concerns]


async def test_a_warning_names_the_card_and_the_number_that_the_list_shows(world: World) -> None:
    await set_status(world, 2, "FROZEN")
    await card_sync.sync_cards(world.core, "main")
    text = "\n\n" + a_list(
        world, "10", "20", "15.50"
    )  # what lines of the file they stand on is nobody's matter
    said = f"3. {label(world, 2)} is frozen: money would sit on it."

    await people.require_member(world.core, ALICE, action="test")
    read = await batch_reading.begin(world.core, owner=ALICE, text=text)
    preview = await batch_submission.preview(world.core, read.draft_id, ALICE)
    assert [c.text for c in preview.concerns] == [said]
    assert [row.warnings for row in preview.rows] == [(), (), ("is frozen: money would sit on it",)]
    batch = await batch_submission.submit(world.core, read.draft_id, ALICE, reason="Per diems")
    view = await request_lookups.request_view(world.core, batch.id)
    assert [c.text for c in view.concerns] == [said]
    assert texts(await shown_to_bob(world, batch)) == [said]


async def test_what_changed_between_the_preview_and_the_submission_is_kept_with_the_batch(
    world: World,
) -> None:
    await people.require_member(world.core, ALICE, action="test")
    read = await batch_reading.begin(world.core, owner=ALICE, text=a_list(world, "10", "20"))
    await batch_submission.preview(world.core, read.draft_id, ALICE)
    freeze = await world.ask("card_freeze", {"card": world.cards[1]["id"]}, now=True)
    await execute(world, freeze)

    batch = await batch_submission.submit(world.core, read.draft_id, ALICE, reason="Per diems")

    view = await request_lookups.request_view(world.core, batch.id)
    assert [c.text for c in view.concerns] == [f"2. {label(world, 1)} is frozen: money would sit on it."]


async def test_a_card_frozen_since_the_submission_is_shown_as_changed_whoever_froze_it(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    freeze = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    await execute(world, freeze)
    await set_status(world, 1, "FROZEN")

    shown = await shown_to_bob(world, batch)

    said = [f"{n}. {label(world, n - 1)} is frozen: money would sit on it." for n in (1, 2)]
    assert texts(shown) == said
    assert shown.found.changed == tuple(said)


async def test_what_spoke_against_a_row_and_no_longer_does_is_shown_as_changed(world: World) -> None:
    await set_status(world, 0, "FROZEN")
    await card_sync.sync_cards(world.core, "main")
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await set_status(world, 0, "ACTIVE")

    shown = await shown_to_bob(world, batch)

    assert texts(shown) == []
    assert shown.found.changed == (
        f"1. {label(world, 0)}: no longer so that it is frozen: money would sit on it.",
    )


async def test_the_rows_of_a_batch_are_not_called_similar_to_each_other(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    assert texts(await shown_to_bob(world, batch)) == []

    await ask_bulk(world, a_list(world, "10"))
    assert texts(await shown_to_bob(world, batch)) == [
        f"1. {label(world, 0)} has the same request already within 24 hours."
    ]


async def test_no_warning_is_shown_of_a_row_that_was_left_out(world: World) -> None:
    await set_status(world, 0, "FROZEN")
    await card_sync.sync_cards(world.core, "main")
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    first = (await rows_of(world, batch))[0]
    batch = await batch_submission.leave_out(world.core, batch.id, ALICE, [first.id])

    view = await request_lookups.request_view(world.core, batch.id)
    shown = await shown_to_bob(world, batch)

    assert (view.concerns, shown.found.concerns, shown.found.changed) == ((), (), ())


async def test_cards_that_cannot_be_read_are_said_to_be_as_last_read(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.fault("status", "GET /cards/{cardId}", times=9, status=502, code="UNAVAILABLE")

    shown = await shown_to_bob(world, batch)

    assert texts(shown) == [
        "Your card provider could not be read for the cards of 2 rows here: what is said of them is as last read."
    ]


async def test_a_row_whose_card_cannot_take_money_any_more_is_not_sent(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)
    await set_status(world, 1, "BLOCKED")
    await world.run(10)

    first, _ = await rows_of(world, batch)
    assert await states_of(world, batch) == {State.SUCCEEDED: 1, State.CANCELLED: 1}
    assert keys_sent(world) == [first.key]


async def test_a_batch_kept_with_sentences_by_an_older_version_still_shows_them(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    facts = {**batch.facts, "warnings": ["Line 2: the card is frozen: money would sit on it."]}

    assert [c.text for c in batch_summary.row_concerns(facts)] == facts["warnings"]
    async with world.store.read() as tx:
        found = await request_rows.get(tx, batch.id)
    assert found is not None
    assert request_lookups._changed_rows(replace(found, facts=facts), {1, 2}, []) == ()


async def test_a_comma_before_the_cents_is_read_in_a_file_with_semicolons_and_in_no_other(
    world: World,
) -> None:
    ids = [card["id"] for card in world.cards]
    semicolons = f"card;amount\n{ids[0]};15,50\n{ids[1]};1.250,00\n{ids[2]};1,250.00"

    read = await batch_reading.begin(world.core, owner=ALICE, text=semicolons)

    assert [row.operation.stored()["amount_usd"] for row in read.rows] == ["15.50", "1250.00", "1250.00"]
    for text, said in (
        (f"card;amount\n{ids[0]};1,250", "can be read in two ways"),
        (f'card,amount\n{ids[0]},"15,50"', "A comma may only separate thousands"),
        (f"card\tamount\n{ids[0]}\t15,50", "A comma may only separate thousands"),
    ):
        with pytest.raises(Unreadable, match=said):
            await batch_reading.begin(world.core, owner=ALICE, text=text)
