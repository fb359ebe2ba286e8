"""The catalogue is the one place that knows the kinds of alert, and a new kind is one row in it."""

from __future__ import annotations

import ast
import importlib
import re
import string
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.alerts import Alerting, AlertKind, Remedy, Severity, catalogue, float_alerts
from bot.domain.alerts.alert_kind import Wording
from bot.domain.alerts.catalogue import CATALOGUE
from bot.operations import kinds as operation_kinds
from bot.services.alerts import lifecycle
from bot.services.messages import digest
from tests.alerts.conftest import Desk
from tests.handlers.slack_driver import ALICE, BOB, CAROL
from tests.support.docs_scripts import docs_script

ROOT = Path(__file__).parents[2]
ROOM = ROOT / "bot" / "domain" / "alerts"
SUBJECTS = sorted(ROOM.glob("*_alerts.py"))
# Names of alerts that are ordinary words too, and what else they are where they stand alone in the code.
OTHER_MEANINGS = {
    "3ds": "a command, and an endpoint",
    "card_blocked": "a field and a code of your card provider's declines",
    "card_status": "a fact that operations keep",
    "code_person": "a fact that operations keep, and what a second person confirms",
    "consent": "a table",
    "decline": "a button, and a purchase that was declined",
    "delegation": "a field of the audit",
    "funding": "a command, a job, an endpoint, a kind of the ledger",
    "handover": "a command",
    "landed_late": "a line of a request's thread",
    "stopped": "a line of a batch's thread",
    "paused": "the reason of a refusal",
    "policy": "a table of the settings, a job, a subject",
    "relay_destinations": "what was last read of the settings",
    "runway": "a job",
    "tampered": "the reason of a refusal",
    "unresolved": "a state of requests",
    "webhook_secret": "a table",
}


def product_files() -> Iterator[tuple[str, ast.Module]]:
    """Every module of the product outside the catalogue; migrations are history."""
    for package in ("bot", "handlers", "storage"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if ROOM not in path.parents and "versions" not in path.parts:
                yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def names_in(node: ast.AST) -> set[str]:
    """Names of alert kinds that are written out in this part of the code."""
    found = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return set(found) & CATALOGUE.keys()


def asks_for_a_kind(node: ast.AST) -> set[str]:
    """Names written out where a kind of alert is meant: `kind="…"`, `….kind == "…"`, `open_of(tx, "…")`."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        if any(isinstance(side, ast.Attribute) and side.attr == "kind" for side in sides):
            return set().union(*map(names_in, sides))
    if isinstance(node, ast.Call):
        given = [word.value for word in node.keywords if word.arg == "kind"]
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("open_of", "of_kind", "silences"):
            given += node.args
        return set().union(*map(names_in, given))
    return set()


def wordings() -> Iterator[tuple[str, str, AlertKind, Wording]]:
    for name, kind in CATALOGUE.items():
        for case, wording in kind.wordings.items():
            yield name, case, kind, wording


def facts_of(wording: Wording) -> set[str]:
    parsed = [*string.Formatter().parse(wording.title), *string.Formatter().parse(wording.text)]
    return {name for _, name, _, _ in parsed if name}


def test_no_name_of_a_kind_is_written_out_outside_the_catalogue() -> None:
    written = {
        (path, name) for path, tree in product_files() for name in names_in(tree) - OTHER_MEANINGS.keys()
    }
    meant = {
        (path, name)
        for path, tree in product_files()
        for node in ast.walk(tree)
        for name in asks_for_a_kind(node)
    }

    assert written == set()
    assert meant == set()
    assert OTHER_MEANINGS.keys() <= CATALOGUE.keys()


def test_every_call_gives_exactly_the_facts_of_a_case_and_every_case_has_its_call() -> None:
    """In place of types: a fact that is missing would be found out only when the alert is due."""
    rows = {constant: row for path in SUBJECTS for constant, row in rows_of(path).items()}
    shown = set()
    for path, call in calls_of_says():
        row = rows[ast.unparse(call.func).removesuffix(".says").rpartition(".")[2]]
        given = {word.arg for word in call.keywords if word.arg} - {"severity"}
        cases = named_cases(call) or {
            case for case, wording in row.wordings.items() if facts_of(wording) <= given
        }
        if all(word.arg for word in call.keywords):  # else the rest is handed on as a mapping
            assert given == set().union(*(facts_of(row.wordings[case]) for case in cases)), (
                path,
                call.lineno,
            )
        shown |= {(row.name, case) for case in cases}

    assert {(name, case) for name, case, *_ in wordings() if name != "consent"} == shown


def calls_of_says() -> Iterator[tuple[str, ast.Call]]:
    room = ((path.name, ast.parse(path.read_text())) for path in SUBJECTS)
    for path, tree in (*product_files(), *room):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".says"):
                yield path, node


def named_cases(call: ast.Call) -> set[str]:
    """The cases that this call writes out; none where they are found out as it runs."""
    if not call.args:
        return {""}
    options = [call.args[0].body, call.args[0].orelse] if isinstance(call.args[0], ast.IfExp) else call.args
    return {str(option.value) for option in options if isinstance(option, ast.Constant)}


def rows_of(path: Path) -> dict[str, AlertKind]:
    """The rows in the file of a subject, by what they are called there."""
    subject = importlib.import_module(f"bot.domain.alerts.{path.stem}")
    return {name: row for name, row in vars(subject).items() if isinstance(row, AlertKind)}


def test_every_row_is_whole() -> None:
    for name, kind in CATALOGUE.items():
        assert re.fullmatch(r"[a-z0-9_]+", name)
        assert kind.name == name
        assert all((kind.raised_when, kind.found_by, kind.ends, kind.severities)), name
        assert kind.next_step in kind.buttons
        # A phrase of the docs: a sentence would stop the row short.
        assert not any(phrase.endswith(".") for phrase in (kind.raised_when, kind.ends, kind.calls_when)), (
            name
        )


def test_no_two_kinds_share_a_condition() -> None:
    conditions = [kind.condition("main", "1") for kind in CATALOGUE.values()]

    assert len(set(conditions)) == len(conditions)


def test_every_title_is_short_enough_for_the_header_of_a_message() -> None:
    for name, case, _, wording in wordings():
        assert len(wording.title) <= 100, (name, case)


def test_a_severity_that_a_case_never_has_is_refused() -> None:
    with pytest.raises(ValueError, match="never critical"):
        CATALOGUE["runway"].says(severity=Severity.CRITICAL, program="main", hours=1, floor="", at="", why="")


def test_a_fact_that_is_missing_is_an_error_and_no_half_sentence() -> None:
    with pytest.raises(KeyError):
        CATALOGUE["scope"].says(program="main", endpoint="GET /funding")


def test_every_remedy_of_a_kind_is_what_one_operation_does() -> None:
    by_remedy = [cls.remedy for cls in operation_kinds().values() if cls.remedy]

    assert sorted(by_remedy) == sorted(Remedy)
    assert {remedy for kind in CATALOGUE.values() for remedy in kind.remedies} == set(Remedy)


def test_a_name_that_only_another_version_knows_is_drawn_plainly_and_may_be_muted() -> None:
    assert catalogue.is_mutable("of_the_future")
    assert catalogue.of("of_the_future").in_digest == "of_the_future"
    assert catalogue.of("of_the_future").remedy({}) is None


# Adding a kind: one row

COFFEE = AlertKind(
    name="coffee_low",
    raised_when="there is little coffee",
    found_by="people",
    ends="somebody bought some",
    wordings={
        "": Wording(
            (Severity.WARNING, Severity.CRITICAL), "Coffee of {place} is low", "{cups} cups are left."
        )
    },
    digest_word="coffee low",
    remedies=(Remedy.SUBMIT_FUNDING,),
)


@pytest.fixture
def _with_coffee(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CATALOGUE, COFFEE.name, COFFEE)


async def keep_coffee(desk: Desk, cups: int, kind: AlertKind = COFFEE) -> None:
    core = desk.driver.core
    async with core.store.begin() as tx:
        severity = Severity.CRITICAL if cups == 0 else Severity.WARNING
        said = kind.says(severity=severity, place="the kitchen", cups=cups)
        await lifecycle.keep(
            tx, core, said, condition=kind.condition("kitchen"), subject="kitchen", program="main"
        )
    await desk.posted()


@pytest.mark.usefixtures("_with_coffee")
async def test_a_new_row_is_raised_drawn_made_worse_fixed_and_over(desk: Desk) -> None:
    await keep_coffee(desk, 2)
    shown = await desk.only()
    assert "▲ Warning: Coffee of the kitchen is low" in shown
    assert "2 cups are left." in shown

    await keep_coffee(desk, 0)
    assert "✗ Critical: Coffee of the kitchen is low" in await desk.only()
    (line,) = await desk.thread()
    assert line.startswith("SANDBOX · Now: Coffee of the kitchen is low. ")
    assert "S0" in line, "approvers are a group, and called"

    await desk.press(ALICE, "alert:remedy")
    assert (await desk.driver.modal(ALICE))["title"]["text"] == "Submit funding"

    async with desk.driver.core.store.begin() as tx:
        await lifecycle.resolve(tx, desk.driver.core, COFFEE.condition("kitchen"))
    await desk.posted()
    assert (await desk.only()).startswith("✓ Resolved")


@pytest.mark.usefixtures("_with_coffee")
async def test_a_warning_mentions_nobody_and_what_is_critical_those_whom_the_settings_name(
    desk: Desk,
) -> None:
    await keep_coffee(desk, 2)
    assert "S0" not in await desk.only()

    desk.driver.world.rebuild(alerting=Alerting(call=("@card-admins",)))
    await keep_coffee(desk, 0)
    (line,) = await desk.thread()
    assert line.endswith("<!subteam^S0ADMINS>")


@pytest.mark.usefixtures("_with_coffee")
async def test_a_critical_alert_calls_the_approvers_where_slack_does_not_know_whom_the_settings_name(
    desk: Desk,
) -> None:
    desk.driver.world.rebuild(alerting=Alerting(call=("@crad-ops",)))
    await keep_coffee(desk, 0)

    assert "<!subteam^S0APPROVERS>" in await desk.only()


@pytest.mark.usefixtures("_with_coffee")
async def test_a_new_critical_alert_mentions_the_approvers_until_somebody_takes_it_up(desk: Desk) -> None:
    await keep_coffee(desk, 0)
    assert "<!subteam^S0APPROVERS>" in await desk.only()

    await desk.press(BOB, "alert:ack")
    assert "subteam" not in await desk.only()
    assert "acknowledged by Bob Tanaka" in await desk.only()


@pytest.mark.usefixtures("_with_coffee")
async def test_a_new_row_can_be_muted_and_is_in_the_digest_and_in_the_docs(desk: Desk) -> None:
    core = desk.driver.core
    await digest.post(core)
    await desk.driver.world.advance(24 * 3600)
    await desk.driver.command(CAROL, "/countersign alerts mute no-coffee coffee_low 7d")
    await keep_coffee(desk, 2)
    assert await desk.seen() == []

    await digest.post(core)
    await desk.posted()
    assert "1 coffee low" in await desk.only()
    assert (
        "| [`coffee_low`](runbook.md#coffee_low) | there is little coffee |"
        in docs_script("generate").alerts_table()
    )


def test_two_kinds_of_one_name_are_refused() -> None:
    low = float_alerts.FLOAT_LOW

    with pytest.raises(ValueError, match="Two kinds of alert are called float_low"):
        catalogue.collect([low, replace(low, raised_when="another row, copied")])
