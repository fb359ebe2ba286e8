"""Scenarios that others write: steps, expectations, what is kept, and how a wrong one is said."""

import re
from pathlib import Path

import pytest

from sandbox import command
from sandbox.launching import ANY_PORT, CannotLaunch, Launch, launch
from sandbox.partner.scenarios import SCENARIOS
from sandbox.testing import PartnerSandbox

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "sandbox" / "partner" / "scenarios" / "files"
OURS = {path.stem: path for path in sorted(FOLDER.glob("*.yml"))}
FILES = sorted((ROOT / "examples" / "scenarios").glob("*.yml"))


def test_every_scenario_of_the_simulator_is_a_file() -> None:
    assert len(FILES) == 3
    assert list(SCENARIOS) == list(OURS)
    assert len(OURS) == 57


@pytest.mark.parametrize("path", OURS.values(), ids=OURS)
def test_each_of_our_own_files_can_be_played_as_somebody_elses(
    partner_sandbox: PartnerSandbox, path: Path
) -> None:
    partner_sandbox.play(path)
    state = partner_sandbox.state()
    assert state["invariants"]["ok"]
    assert len(state["cards"]) == (7 if path.stem == "month-end" else 6)


def test_a_file_and_the_scenario_of_its_name_leave_the_same_behind(partner_sandbox: PartnerSandbox) -> None:
    """No key, no journal and no id more: whoever plays the file gets what the control call gives."""
    left = {}
    for way in ("file", "name"):
        partner_sandbox.control("reset", seed="same")
        partner_sandbox.clock.freeze("2026-08-11T12:00:00Z")
        if way == "file":
            partner_sandbox.play(OURS["reversal-negative-float"])
        else:
            partner_sandbox.control("scenarios/reversal-negative-float")
        left[way] = partner_sandbox.state()
        assert [one["method"] for one in partner_sandbox.journal()] == (["POST"] if way == "file" else [])
    assert left["file"] == left["name"]


def test_a_step_happens_when_the_file_says_and_times_are_written_from_its_beginning(
    partner_sandbox: PartnerSandbox, tmp_path: Path
) -> None:
    partner_sandbox.clock.freeze("2026-08-11T12:00:00Z")
    path = tmp_path / "times.yml"
    path.write_text(
        "about: x\nbegin: people\nsteps:\n"
        "- {control: purchases, ago: 52h, body: {card_id: '{card1}', amount_usd: '5'}, keep: {old: transaction_id}}\n"
        "- {call: '/cards/{card1}/freeze', ago: 90m, body: {frozen: true}}\n"
        "- {control: clock, body: {set: '{next_month-1h}', mode: frozen}}\n"
        "- {control: clock, body: {set: '{now+2d}'}, expect: {clock: '{now+2d}'}}\n"
        "left: {began: '{now}', month: '{next_month}', bought: '{old}', submission: '{id}'}\n"
    )
    kept = partner_sandbox.play(path)
    assert kept["left"] == {
        "began": "2026-08-11T12:00:00.000Z", "month": "2026-09-01T00:00:00.000Z", "bought": kept["old"],
        "submission": "{id}",
    }  # fmt: skip
    assert set(kept) == {"left", "old", *(f"card{number}" for number in range(1, 7))}
    state = partner_sandbox.state()
    assert state["clock"] == "2026-08-13T12:00:00.000Z"
    at = {one["type"]: one["created_at"] for one in state["events"]}
    assert at["card.authorized"] == "2026-08-09T08:00:00.000Z"
    assert at["card.status_changed"] == partner_sandbox.journal()[-1]["at"] == "2026-08-11T10:30:00.000Z"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_does_what_it_expects(partner_sandbox: PartnerSandbox, path: Path) -> None:
    assert partner_sandbox.play(path)
    assert partner_sandbox.state()["invariants"]["ok"]


def test_the_example_of_the_page_does_what_it_expects(
    partner_sandbox: PartnerSandbox, tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "simulator.md").read_text()
    found = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert found
    path = tmp_path / "page.yml"
    path.write_text(found[1])
    assert partner_sandbox.play(path)["reference"] == "topup:payroll-1"


WRONG = {
    "about: x\nsteps: [{call: GET /me, expect: {data.float.balance_usd: 5}}]": "GET /me: data.float.balance_usd is 0",
    "about: x\nsteps: [{call: GET /me, expect: {status: 403}}]": "status is 200, and 403 was expected",
    "about: x\nsteps: [{call: GET /me, expect: {lost: true}}]": "lost is false",
    "about: x\nsteps: [{control: float, body: {amount: 5}, expect: {status: 200}}]": "status is 400",
    "about: x\nsteps: [{call: 'GET /cards/{card1}'}]": "card1 was not kept by an earlier step",
    "about: x\nsteps: [{call: GET /me, control: state}]": "step 1: give either control or call",
    "about: x\nsteps: [{}]": "step 1: give either control or call",
    "about: x\nbegin: nope\nsteps: []": "begin: nope is not a scenario here",
    "steps: []": "about",
    "about: x\nsteps: [{cal: GET /me}]": "cal",
    "about: [": "wrong.yml",
    "about: x\nsteps: [{control: float, body: {amount: 5}}]": "this was refused, and nothing else was expected",
    "about: x\nsteps: [{call: GET /cards/none}]": "this was refused, and nothing else was expected",
    "about: x\nbegin: people\n"
    "steps: [{call: '/cards/{card1}/freeze', body: {frozen: true}, expect: {data.frozen: 1}}]": (
        "data.frozen is true, and 1 was expected"
    ),
    "about: x\nsteps: [{call: GET /me, expect: {data.float.limit_usd: 0}}]": "data.float.limit_usd is null, and 0",
    "about: x\nsteps: [{call: GET /me, expect: {data.cards.total: false}}]": "data.cards.total is 0, and False",
    "about: x\nsteps: [{call: GET /me, expect: {data.partner.name: [1]}}]": "and [1] was expected",
    "about: x\nsteps: [{call: GET /me, expect: {data.none: null}}]": "there is no data.none",
    "about: x\nsteps: [{call: GET /me, keep: {a: data.partner.nam}}]": "there is no data.partner.nam to keep as a",
    "about: x\nsteps: [{call: GET /ledger, keep: {a: data.entries.7.kind}}]": "there is no data.entries.7.kind to keep",
    "about: x\nsteps: [{call: GET /me, keep: {a: data.0}}]": "there is no data.0 to keep",
    "about: x\nsteps: [{call: GET /me, ago: 2 weeks}]": "ago is a number with s, m, h or d, such as 52h",
    "about: x\nsteps: [{control: clock, ago: 2h}]": "the clock cannot be changed in the past",
    "about: x\nsteps: [{call: GET /me, keep: {a: data.partner.name}}, {call: 'GET /{a+2h}'}]": "a is not a time",
    "about: x\nsteps: [{control: faults, body: {operation: GET /me, effect: delay, seconds: 1}},"
    " {call: GET /me, ago: 2h}]": "GET /me would wait",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_does_not_hold_or_is_no_scenario_is_said(
    partner_sandbox: PartnerSandbox, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.yml"
    path.write_text(text)
    with pytest.raises(AssertionError, match=re.escape(WRONG[text])):
        partner_sandbox.play(path)


async def test_the_command_begins_with_a_file_and_stops_where_it_does_not_hold(tmp_path: Path) -> None:
    def options(scenario: str) -> Launch:
        return Launch(manifest=command.MANIFEST, slack_port=0, partner_port=ANY_PORT, scenario=scenario)

    running = await launch(options(str(FILES[0])))
    await running.close()
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(next(iter(WRONG)))
    for name, said in ((str(wrong), "balance_usd is 0"), (str(tmp_path / "none.yml"), "cannot be read")):
        with pytest.raises(CannotLaunch, match=said):
            await launch(options(name))


def test_what_is_null_is_kept_and_expected_as_null(partner_sandbox: PartnerSandbox, tmp_path: Path) -> None:
    path = tmp_path / "null.yml"
    path.write_text(
        "about: x\nsteps: [{call: GET /me, keep: {limit: data.float.limit_usd},"
        " expect: {data.float.limit_usd: null, data.cards.total: 0.0}}]\n"
    )
    assert partner_sandbox.play(path)["limit"] is None
