"""The window in which a batch is approved: every value of every row, and Approve when each page was open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bot.view_models as p
from bot.domain.requests import MAX_ROWS, State, pages_of
from bot.operations import Concern
from bot.services.requests import batch_submission
from handlers.views import blocks as b
from handlers.views import ids
from handlers.views.requests import batch
from tests.handlers import sample_requests as given_requests
from tests.handlers.slack_driver import ALICE, BOB, SlackDriver, a_slack_driver
from tests.handlers.test_bulk_handlers import upload, words
from tests.services.bulk_requests import rows_of

Json = dict[str, Any]
LONGEST_REF, LONGEST_EMAIL = 128, 254


def a_row(number: int, ref: int, email: int) -> p.BulkRowView:
    """An order with a reference and an e-mail address of these lengths; each value ends in its row's number."""
    end = f"-{number:03}"
    return p.BulkRowView(
        number=number,
        line=number + 1,
        summary=f"Order a card for MAX MUSTER{end} (phone +49 ••••, m•••@•••.com, reference {'r' * (ref - 4)}{end})",
        state=State.PENDING,
        private=(("Phone", f"15112345{number:03}"), ("Email", f"{'e' * (email - 4)}{end}")),
        warnings=("shares its name or reference with another row",) if number % 3 == 0 else (),
    )


def shown(rows: tuple[p.BulkRowView, ...], page: int) -> p.BatchConfirmation:
    """With as much around the rows as there ever is."""
    card = given_requests.a_card(State.PENDING, "words", subject="", subject_label="", rows=len(rows))
    asked = replace(card.request, reason="x" * 1000, exposure_usd=Decimal(100))
    concerns = tuple(
        Concern(f"{n}. MAX MUSTER ••{n:04} is frozen: money would sit on it.") for n in range(11)
    )
    found = p.Confirmation(
        replace(card, request=asked, concerns=concerns), (("Rows", "100"),), concerns, ("changed",) * 10, True
    )
    return p.BatchConfirmation(found, rows, page)


SIZES = st.lists(
    st.tuples(st.integers(5, LONGEST_REF), st.integers(6, LONGEST_EMAIL)), min_size=1, max_size=MAX_ROWS
)


@settings(max_examples=25, deadline=None)
@given(SIZES)
def test_approve_comes_when_every_value_of_every_row_was_shown_and_not_before(
    sizes: list[tuple[int, int]],
) -> None:
    rows = tuple(a_row(number, *size) for number, size in enumerate(sizes, 1))
    pages = len(pages_of([row.size for row in rows]))
    read, seen = None, ""
    for page in range(1, pages + 1):
        view = batch.confirmation(shown(rows, page), read)
        read = batch.Read.of(ids.unpack(view["private_metadata"]))
        seen += words(view)

        assert b.weight(view["blocks"]) <= b.ALL_TEXT
        assert len(view["blocks"]) <= b.VIEW_BLOCKS
        assert ("submit" in view) == (page == pages)
        assert (view["callback_id"] == ids.APPROVE) == (page == pages)
    for row in rows:
        assert row.summary in seen
        assert all(f"{name}: {value}" in seen for name, value in row.private)
        assert all(warning in seen for warning in row.warnings)
    back = batch.confirmation(shown(rows, 1), read)
    assert back["submit"]["text"] == "Approve"


def test_a_value_cannot_pose_as_another_one() -> None:
    row = a_row(1, 20, 20)
    view = batch.confirmation(shown((row,), 1))

    text = next(x["text"]["text"] for x in view["blocks"] if "MAX MUSTER-001" in words(x))
    assert text.splitlines()[1:] == [f"    {name}: {value}" for name, value in row.private]


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[SlackDriver]:
    async with a_slack_driver(tmp_path) as made:
        yield made


async def ask_for_orders(driver: SlackDriver, count: int) -> Any:
    people = [f"Max Muster {chr(65 + n)},49,1511234567{n:02},max{n}@example.com" for n in range(count)]
    said = await upload(driver, "\n".join(["name,country,phone,email", *people]))
    await driver.press(ALICE, said, "bulk:review", channel="D0ALICE")
    await driver.submit(ALICE, {"reason": "New hires"})
    return await driver.newest()


async def test_an_approver_turns_the_pages_and_then_approves(driver: SlackDriver) -> None:
    asked = await ask_for_orders(driver, 25)
    await driver.press(BOB, await driver.card(asked.id), "request:approve")

    first = await driver.modal(BOB)
    assert not first.get("submit")
    assert "You can approve once you have seen all rows: 5 of 25 are left" in words(first)
    await driver.press_in_modal(BOB, "bulk:on")
    assert (await driver.modal(BOB))["submit"]["text"] == "Approve"
    await driver.press_in_modal(BOB, "bulk:back")
    await driver.submit(BOB)
    assert (await driver.world.request(asked.id)).state is State.APPROVED


async def test_rows_left_out_while_somebody_reads_make_them_begin_again(driver: SlackDriver) -> None:
    asked = await ask_for_orders(driver, 25)
    await driver.press(BOB, await driver.card(asked.id), "request:approve")
    first_row = (await rows_of(driver.world, asked))[0]
    await batch_submission.leave_out(driver.core, asked.id, ALICE, [first_row.id])

    await driver.press_in_modal(BOB, "bulk:on")

    again = await driver.modal(BOB)
    assert "read the list again from its first row" in words(again)
    assert "Rows 1 to 20 of 24" in words(again)
    assert not again.get("submit")


async def test_an_amount_above_the_limit_is_stopped_on_its_field_in_the_form_and_from_plain_english(
    driver: SlackDriver,
) -> None:
    card = driver.world.cards[0]["id"]
    await driver.command(ALICE, f"/card topup {card} 5000.01")
    reported = (await driver.submit(ALICE, {"reason": "Team lunch"}))["errors"]
    assert "can never be approved. Request 5,000.00 USD at most." in reported["amount_usd"]

    said = await driver.message(ALICE, f"top up {driver.world.cards[0]['last4']} by 5000.01", "D0ALICE")
    assert said is not None
    answer = [m for m in await driver.messages(ALICE, "D0ALICE") if m["is_app"]][-1]
    assert "Review" in words(answer)
    await driver.press(ALICE, answer, _button_of(answer), channel="D0ALICE")
    displayed = (await driver.submit(ALICE, {"reason": "Team lunch"}))["errors"]
    assert "can never be approved" in displayed["amount_usd"]
    assert await driver.requests() == []


def _button_of(message: Json) -> str:
    """The first button under a message."""
    rows = [block for block in message["blocks"] if block["type"] == "actions"]
    return str(rows[0]["elements"][0]["action_id"])
