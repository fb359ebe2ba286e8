"""A resolved alert says how it came out, and never repeats what the alarm asked people to do."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from bot.domain.alerts import AlertKind, Said, catalogue, people_alerts
from bot.domain.time import in_words
from bot.services.alerts import alert_actions, lifecycle
from bot.services.requests import approvals
from storage.messages import alerts as rows
from tests.alerts.conftest import Desk
from tests.handlers.slack_driver import BOB, CAROL

PEOPLES_WORDS = (people_alerts.HANDOVER, people_alerts.CONSENT)
"""What people wrote, or what came of it, stays to be read when it is over."""
NEVER_OPEN_FOR_LONG = ("reported once", "never")


def filled(template: str) -> str:
    return re.sub(r"\{[^}]*\}", "x", template)


def sentences(text: str) -> set[str]:
    return {part.strip() for part in re.split(r"[.;:]\s", text) if len(part.split()) > 2}


async def test_a_resolved_alert_of_any_kind_never_repeats_the_alarm(desk: Desk) -> None:
    core = desk.driver.core
    shown: list[tuple[Said, str, str]] = []
    async with core.store.begin() as tx:
        for kind in catalogue.CATALOGUE.values():
            for case, words in kind.wordings.items():
                said = Said(kind, words.severities[0], filled(words.title), filled(words.text))
                condition = kind.condition("main", f"about {case}")
                alert = await lifecycle.keep(
                    tx, core, said, condition=condition, subject=f"about {case}", program="main"
                )
                shown.append((said, condition, alert.id))
    desk.driver.world.clock.advance(720)
    async with core.store.begin() as tx:
        for _, condition, _ in shown:
            await lifecycle.resolve(tx, core, condition)

    async with core.store.read() as tx:
        for said, condition, alert_id in shown:
            over = await rows.get(tx, alert_id)
            assert over is not None
            assert over.state == "resolved"
            assert "{" not in over.title + over.text, condition
            if said.kind not in PEOPLES_WORDS:
                assert over.title != said.title, condition
                assert not sentences(said.text) & sentences(over.text), condition


def test_every_kind_that_can_end_has_an_ending_of_its_own() -> None:
    plain = AlertKind(name="x", raised_when="", found_by="", ends="", wordings={}).endings[""]
    without = {kind.name for kind in catalogue.CATALOGUE.values() if kind.endings[""] == plain}
    never = {k.name for k in catalogue.CATALOGUE.values() if k.ends.startswith(NEVER_OPEN_FOR_LONG)}

    assert without == never


async def test_words_given_in_the_transaction_that_ends_it_are_how_it_ended(desk: Desk) -> None:
    core, kind = desk.driver.core, catalogue.of("paused")
    condition, severity = kind.condition("main"), kind.severities[0]
    async with core.store.begin() as tx:
        said = Said(kind, severity, "Paused", "Nothing is sent.")
        await lifecycle.keep(tx, core, said, condition=condition, subject="main", program="main")
    desk.driver.world.clock.advance(60)
    async with core.store.begin() as tx:
        said = Said(kind, severity, "It goes on", "Both confirmed it.")
        alert = await lifecycle.keep(tx, core, said, condition=condition, subject="main", program="main")
        await lifecycle.resolve(tx, core, condition)
        over = await rows.get(tx, alert.id)

    assert over is not None
    assert (over.state, over.title, over.text) == ("resolved", "It goes on", "Both confirmed it.")


async def test_an_unknown_outcome_that_was_found_says_how_it_came_out(desk: Desk) -> None:
    world = desk.driver.world
    await world.fault("processor", processor="5xx")
    request = await world.top_up("25")
    await world.run_due()
    await desk.posted()
    assert "do not repeat this" in (await desk.only())

    await world.tell(f"topups/{request.key}/resolve", {"as": "credited"})
    await world.run(60)
    await desk.posted()

    found = await world.request(request.id)
    shown = await desk.only()
    assert shown.startswith(f"✓ Resolved: {request.id} {found.state}: ")
    assert found.outcome_text.rstrip(".") in shown
    assert "The outcome was not known for " in shown
    assert "do not repeat this" not in shown
    assert "may have left the float" not in shown


async def test_an_outcome_that_two_people_settled_names_them_and_mentions_nobody(desk: Desk) -> None:
    world = desk.driver.world
    await world.fault("processor", processor="5xx")
    request = await world.top_up("25")
    await world.run_due()
    await world.advance(60)
    for person in (BOB, CAROL):
        await approvals.resolve(world.core, request.id, person, verdict="failed", evidence="Support wrote so")
    await desk.posted()

    shown = await desk.only()
    assert shown.startswith(f"✓ Resolved: {request.id} failed: ")
    assert "Bob Tanaka" in shown
    assert "Carol Reyes" in shown
    assert "<@" not in shown.split("since")[0]
    assert "&lt;@" not in shown


async def test_an_alert_closed_by_hand_says_by_whom_and_that_it_may_come_back(desk: Desk) -> None:
    await desk.buy("ACME", decline_code="processing_error")
    await desk.log()
    await desk.handled()
    (alert,) = await desk.bot.open_alerts()

    await alert_actions.end(desk.driver.core, alert.id, CAROL)
    await desk.posted()

    shown = await desk.only()
    assert "Closed by Carol Reyes" in shown
    assert "a new alert is raised" in shown


async def test_what_silenced_the_alarm_silences_its_end(desk: Desk) -> None:
    core = desk.driver.core
    kind = catalogue.of("float_low")
    await alert_actions.mute(core, CAROL, name="quiet", kind=kind.name, about="main is low")

    said = Said(kind, kind.severities[-1], "Float of main is low: 1", "It is so.")
    async with core.store.begin() as tx:
        await lifecycle.keep(tx, core, said, condition=kind.condition("main"), subject="main", program="main")
    await desk.driver.world.advance(60)
    async with core.store.begin() as tx:
        await lifecycle.resolve(tx, core, kind.condition("main"))
    await desk.posted()

    assert await desk.seen() == []


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (89, "89 seconds"),
        (90, "2 minutes"),
        (720, "12 minutes"),
        (5_400, "2 hours"),
        (170_000, "47 hours"),
        (172_800, "2 days"),
    ],
)
def test_a_span_is_said_in_the_one_unit_that_fits(seconds: int, words: str) -> None:
    assert in_words(timedelta(seconds=seconds)) == words
