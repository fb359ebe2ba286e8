"""A new operation kind over a new endpoint touches three files: written into a copy of the program, it works.

The three are what a developer writes: the endpoint with its call in the file of its chapter, the kind, and what
the simulator does. The copy is then driven by itself, from the form in Slack to the outcome.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("bot", "handlers", "storage", "sandbox")

THE_ENDPOINT = '''
class ReferenceSet(models.Answer):
    """The card and the reference it has now."""

    card_id: str
    partner_ref: str


SET_REFERENCE = Endpoint(
    "PUT /cards/{cardId}/reference",
    "Cards",
    endpoints.CHANGE,
    {**answers.CARD_SETTING, (409, "QUOTA"): answers.REFUSED},
    shapes.shape_of(ReferenceSet),
    Sent(body={"partner_ref": "string"}),
)


class CardCalls(Calls):'''

ITS_CALL = '''
    async def set_reference(self, card_id: str, body: bytes, *, lane: Lane = Lane.MONEY) -> ReferenceSet:
        """Give a card another reference."""
        return await self._read(ReferenceSet, change(SET_REFERENCE, card_id, body=body), lane)
'''

THE_KIND = '''
"""Give a card another reference: the name that its owner's books have for it."""

from __future__ import annotations

from typing import Any

from bot.operations._base import Facts, Line, Look, Operation
from bot.operations._card_switch import CARD
from bot.operations._fields import Field
from bot.outcomes import Evidence, Finding, Outcome
from bot.partner.calls import cards as card_calls
from bot.partner.client import PartnerClient
from bot.operations.value_types import PARTNER_REF


class SetReference(Operation):
    kind = "card_reference"
    title = "Change a reference"
    verb = "Change the reference"
    command = ("card", "reference")
    example = "/card reference 4242 TEAM-9"
    help = "give a card another reference"
    phrases = ("reference of {card} is {partner_ref}",)
    endpoint = card_calls.SET_REFERENCE
    card = CARD
    partner_ref = Field("Partner reference", PARTNER_REF)

    def summary(self) -> str:
        return f"Give {self.target_label} the reference {self.partner_ref}"

    def body(self) -> dict[str, Any]:
        return {"partner_ref": self.partner_ref}

    async def read(self, partner: PartnerClient) -> Facts:
        return {"before": (await partner.card(self.subject)).card.partner_ref or "none"}

    def lines(self, facts: Facts) -> list[Line]:
        return [("Reference", f"{facts['before']} → {self.partner_ref}")]

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        done = await partner.set_reference(self.subject, body)
        return Outcome(Finding.SUCCEEDED, f"{self.target_label} is {done.partner_ref} now. No money moved.")

    async def look(self, partner: PartnerClient, key: str, since: Any) -> Look:
        found = (await partner.card(self.subject)).card.partner_ref
        evidence = Evidence.DONE if found == self.partner_ref else Evidence.ABSENT
        return Look(evidence, f"The card reads {found}. No money moved.", {})
'''

ITS_ANSWER = '''
REFERENCE_BODY = schema("ReferenceBody", string("partner_ref"))
REFERENCE = schema("Reference", string("card_id"), string("partner_ref"))


async def change_reference(call: Call) -> Answer:
    """PUT /cards/{cardId}/reference."""
    card = cards.of_call(call)
    wanted = read_body(REFERENCE_BODY, call.request.body)["partner_ref"]
    call.world.store.update("cards", "id", card.id, partner_ref=wanted)
    return Answer.of({"card_id": card.id, "partner_ref": wanted})


OPERATIONS = (
    Operation(
        "PUT",
        "/cards/{cardId}/reference",
        "cards:write",
        change_reference,
        REFERENCE,
        body=REFERENCE_BODY,
        codes=CARD_ERRORS,
    ),'''

IN_SLACK = """
import asyncio
import sys
from pathlib import Path

import bot
from bot.domain.requests.lifecycle import State
from bot.partner.client import ENDPOINTS
from bot.services.execution import executor
from tests.handlers.slack_driver import ALICE, BOB, a_slack_driver

PUT = "PUT /cards/{cardId}/reference"


async def asked_for(driver, reference):
    card = driver.world.cards[0]
    await driver.command(ALICE, f"/card reference {card['id']}")
    assert (await driver.modal(ALICE))["title"]["text"] == "Change a reference"
    await driver.submit(ALICE, {"partner_ref": reference, "reason": "The books were renamed"})
    await driver.submit(ALICE)
    request = await driver.newest()
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    await driver.submit(BOB)
    await executor.execute(driver.core, request.id)
    references = {c["id"]: c["partner_ref"] for c in (await driver.world.state())["cards"]}
    assert references[card["id"]] == reference
    return await driver.world.request(request.id)


async def main(folder):
    assert Path(bot.__file__).is_relative_to(Path.cwd()), "not the copy"
    assert PUT in map(str, ENDPOINTS)
    async with a_slack_driver(folder) as driver:
        assert (await asked_for(driver, "TEAM-9")).state is State.SUCCEEDED

        lost = {"operation": PUT, "effect": "drop_after_commit"}
        await driver.world.tell("faults", lost)
        request = await asked_for(driver, "TEAM-10")
        assert request.state is State.EXECUTING, request.state
        await driver.world.advance(600)
        await executor.execute(driver.core, request.id)
        assert (await driver.world.request(request.id)).state is State.SUCCEEDED


asyncio.run(main(Path(sys.argv[1])))
print("driven")
"""


def put(text: str, before: str, module: Path) -> None:
    """Write `text` where `before` stands, which it ends with or replaces."""
    source = module.read_text()
    assert source.count(before) == 1, (module, before)
    module.write_text(source.replace(before, text.lstrip("\n")))


def touched(copy: Path) -> set[str]:
    """The files of the program that are new or another in the copy."""
    files = [path for room in ROOMS for path in (copy / room).rglob("*") if path.is_file()]
    names = [path.relative_to(copy) for path in files if "__pycache__" not in path.parts]
    same, _, _ = filecmp.cmpfiles(ROOT, copy, map(str, names), shallow=False)
    return {str(name) for name in names} - set(same)


@pytest.mark.timeout(180)
def test_a_kind_over_a_new_endpoint_touches_three_files_and_works_from_form_to_outcome(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "program"
    for room in (*ROOMS, "tests"):
        shutil.copytree(
            ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__", "node_modules")
        )
    shutil.copy(ROOT / "manifest.yml", copy)
    calls = copy / "bot" / "partner" / "calls" / "cards.py"
    put(THE_ENDPOINT, "class CardCalls(Calls):", calls)
    calls.write_text(calls.read_text() + ITS_CALL)
    (copy / "bot" / "operations" / "card_reference.py").write_text(THE_KIND.lstrip("\n"))
    route = copy / "sandbox" / "partner" / "routes" / "card_settings.py"
    put(ITS_ANSWER, "OPERATIONS = (", route)
    put("response_schemas, schema, string\n", "response_schemas\n", route)

    assert touched(copy) == {
        "bot/operations/card_reference.py",
        "bot/partner/calls/cards.py",
        "sandbox/partner/routes/card_settings.py",
    }
    (copy / "in_slack.py").write_text(IN_SLACK)
    (tmp_path / "data").mkdir()
    driven = subprocess.run(
        [sys.executable, "in_slack.py", str(tmp_path / "data")],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert driven.stdout.strip().endswith("driven"), driven.stderr[-3000:]
