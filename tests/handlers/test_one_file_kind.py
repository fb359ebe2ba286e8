"""A new operation kind is one file: written here in a folder of its own, it appears everywhere and works."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot import operations
from bot.config import Config
from bot.domain.requests import State
from bot.intents import Facts, KnownCard, Reading, parse
from bot.services import execution
from tests.handlers.slack_driver import ALICE, BOB, SlackDriver, a_slack_driver, card_option
from tests.support.docs_scripts import docs_script

ROOT = Path(__file__).parents[2]
THE_FILE = '''
"""Cap what a card may spend in a day."""

from bot.operations._base import Look, Operation
from bot.operations._card_switch import CARD
from bot.operations._fields import Field
from bot.operations.value_types import USD
from bot.outcomes import Evidence, Finding, Outcome
from bot.partner.calls import cards as card_calls
from bot.partner.endpoints import Endpoint


class Cap(Operation):
    kind = "card_cap"
    title = "Cap a card"
    verb = "Cap"
    command = ("card", "cap")
    example = "/card cap 4242 75"
    help = "keep a card below so much a day"
    phrases = ("cap {card} at {cap_usd}",)
    endpoint = card_calls.SET_LIMITS
    card = CARD
    cap_usd = Field("Cap (USD)", USD)

    def summary(self):
        return f"Cap {self.target_label} at {self.cap_usd} a day"

    def body(self):
        return {"daily_limit": self.cap_usd}

    async def read(self, partner):
        return {"before": str((await partner.limits(self.subject)).daily_limit)}

    def lines(self, facts):
        return [("Cap", f"{facts['before']} → {self.cap_usd}")]

    async def send(self, partner, key, body):
        await partner.set_limits(self.subject, body)
        return Outcome(Finding.SUCCEEDED, f"{self.target_label} is capped. No money moved.")

    async def look(self, partner, key, since):
        return Look(Evidence.UNPROVEN, "Look at the card's limits.", {})
'''


@pytest.fixture
def _one_file_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "kinds"
    folder.mkdir()
    (folder / "card_cap.py").write_text(THE_FILE)
    monkeypatch.setattr(operations, "__path__", [*operations.__path__, str(folder)])
    yield
    sys.modules.pop("bot.operations.card_cap", None)


@pytest.fixture
async def driver(_one_file_more: None, tmp_path: Path) -> AsyncIterator[SlackDriver]:
    async with a_slack_driver(tmp_path) as running:
        yield running


async def test_a_kind_in_one_file_has_its_command_form_help_policy_and_docs_and_works(
    driver: SlackDriver,
) -> None:
    card = driver.world.cards[0]
    for look_up, shown in (
        ("help", "`cap`"),
        ("help more", "keep a card below so much a day"),
        ("policy", "Cap a card"),
        ("who card_cap", "Cap a card"),
    ):
        await driver.command(ALICE, f"/countersign {look_up}")
        assert shown in str(await driver.shown_to(ALICE)), look_up

    await driver.command(ALICE, f"/card cap {card['id']} 75")
    form = await driver.modal(ALICE)
    assert form["title"]["text"] == "Cap a card"
    assert [b["label"]["text"] for b in form["blocks"] if b["type"] == "input"] == [
        "Card",
        "Cap (USD)",
        "Reason",
    ]
    assert await driver.filled(ALICE) == {"card": card_option(card), "cap_usd": "75", "reason": None}
    outcome = await driver.submit(ALICE, {"cap_usd": "many", "reason": "Trial"})
    assert "plain dollars" in outcome["errors"]["cap_usd"]
    await driver.submit(ALICE, {"cap_usd": "75", "reason": "Trial"})
    await driver.submit(ALICE)
    request = await driver.newest()
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    await driver.submit(BOB)
    await execution.execute(driver.core, request.id)

    assert (await driver.world.request(request.id)).state is State.SUCCEEDED
    limits = {c["id"]: c["daily_limit"] for c in (await driver.world.state())["cards"]}
    assert limits[card["id"]] == "75"


@pytest.mark.usefixtures("_one_file_more")
def test_its_policy_table_and_its_row_in_the_docs_need_no_other_file() -> None:
    example = (ROOT / "countersign.toml").read_text()
    policy = Config.parse(f"{example}\n[policy.card_cap]\napprovals = 2\n".encode()).policy

    assert policy.of("card_cap").approvals == 2
    row = "| `card_cap` | `/card cap` | keep a card below so much a day | Card, Cap (USD), Reason |"
    assert row in docs_script("generate").operations_table()


@pytest.mark.usefixtures("_one_file_more")
def test_its_phrases_are_read_as_people_say_them_under_the_same_gate() -> None:
    card = KnownCard("4242", "ALICE MOREAU", "emp-1", "card1", "ACTIVE")
    facts = Facts(now=datetime(2026, 3, 2, 9, tzinfo=UTC), cards=(card,))

    def read(text: str) -> Reading:
        return parse(text, facts, kinds=operations.kinds()).first

    said = read("cap 4242 at 75 please")
    assert (said.intent, said.opened, said.card) == ("card_cap", True, card)
    assert said.slots == {"card": "4242", "cap_usd": "75"}
    for text in ("don't cap 4242 at 75", "did you cap 4242 at 75?", "cap 9999 at 75", "cap 4242"):
        assert not read(text).opened, text
    others = {kind: cls for kind, cls in operations.kinds().items() if kind != "card_cap"}
    assert parse("cap 4242 at 75", facts, kinds=others).first.intent != "card_cap", (
        "without the kind it is nothing"
    )


def test_a_file_that_is_gone_is_no_kind_any_more() -> None:
    assert "card_cap" not in operations.kinds()
