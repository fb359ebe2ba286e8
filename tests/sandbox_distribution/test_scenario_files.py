"""Scenarios that others write: steps, expectations, what is kept, and how a wrong one is said."""

import re
from pathlib import Path

import pytest

from sandbox import command
from sandbox.launching import ANY_PORT, CannotLaunch, Launch, launch
from sandbox.testing import PartnerSandbox

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "sandbox" / "partner" / "scenarios" / "files"
OURS = {path.stem: path for path in sorted(FOLDER.glob("*.yml"))}
FILES = sorted((ROOT / "examples" / "scenarios").glob("*.yml"))


def test_there_are_examples() -> None:
    assert len(FILES) == 3
    assert len(OURS) == 40


@pytest.mark.parametrize("path", OURS.values(), ids=OURS)
def test_each_of_our_own_files_can_be_played_as_somebody_elses(
    partner_sandbox: PartnerSandbox, path: Path
) -> None:
    partner_sandbox.play(path)
    state = partner_sandbox.state()
    assert state["invariants"]["ok"]
    assert len(state["cards"]) == 6


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
