"""Pages that tell people what to do: they know every state, kind, alert and way to be unresolved."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from bot import operations
from bot.domain.alerts.catalogue import CATALOGUE
from bot.domain.requests import State
from bot.partner.calls import account as account_calls
from bot.partner.calls import cards as card_calls
from bot.partner.calls import deposits as deposit_calls
from bot.partner.calls import events as event_calls
from bot.partner.calls import history as history_calls
from handlers.commands.all_lookups import LOOK_UPS
from tests.support.docs_scripts import docs_script

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# What is written by a program explains nothing.
MADE = ("messages.md", "rules.md")
# Where an unknown outcome comes from, and the heading that tells what to do about it.
LOST_ANSWERS = {
    card_calls.TOP_UP: "A top-up was debited, and the card may not have the money",
    card_calls.ORDER_CARD: "An order got no answer",
    card_calls.FREEZE: "A freeze is not confirmed",
    account_calls.SUBMIT_FUNDING: "A funding submission got no answer",
    card_calls.UNLOAD: "An unload left the card, and the float may not have the money",
    card_calls.CLOSE: "A close got no answer",
    card_calls.SET_LIMITS: "Limits or a markup are not confirmed",
    account_calls.SET_FEES: "Limits or a markup are not confirmed",
    card_calls.SET_PHONE: "A phone got no answer",
    card_calls.SET_3DS: "A 3-D Secure mode got no answer",
    event_calls.REDELIVER: "A redelivery or a deposit quote got no answer",
    deposit_calls.QUOTE_DEPOSIT: "A redelivery or a deposit quote got no answer",
    event_calls.SET_WEBHOOK: "A webhook registration or rotation got no answer",
    history_calls.DETAILS: "Card details were approved and not seen",
}
OTHER_WAYS = {
    "bot/outcomes/planning.py: def is_outdated": "The key is older than a day",
    "bot/services/execution/ending_without_a_call.py: _KEY_LOST": (
        "The API key stopped working while a request was under way"
    ),
    "bot/services/execution/ending_without_a_call.py: _UNTRUSTED": "What is stored is not what was approved",
    "bot/operations/card_topup.py: answered with another card or amount": "The answer named another card or amount",
}


def headings(page: str) -> set[str]:
    return set(re.findall(r"^#+ (.+)$", (DOCS / page).read_text(), re.MULTILINE))


def anchor(title: str) -> str:
    """What a link to this heading names."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_made_parts_are_what_the_code_says() -> None:
    made = docs_script("generate")

    for page in made.PAGES:
        text = page.read_text()
        assert "<!-- made: " in text, page.name
        assert text == made.with_made(text), f"{page.name}: make docs writes it again"


def test_every_state_is_explained() -> None:
    rows = re.findall(r"^\| ([a-z, ]+) \|", (DOCS / "approvals.md").read_text(), re.MULTILINE)

    explained = [word for row in rows for word in row.split(", ") if word != "state"]

    assert sorted(explained) == sorted(State)


def test_every_operation_kind_tells_how_its_truth_is_found() -> None:
    explained = {h.strip("`") for h in headings("operations.md") if h.startswith("`")}

    assert explained == set(operations.kinds()), "docs/operations.md has a heading for each kind"


def test_every_look_up_is_explained_on_a_page_that_people_write() -> None:
    text = "\n".join(page.read_text() for page in sorted(DOCS.glob("*.md")) if page.name not in MADE)
    commands = {"/" + " ".join(filter(None, name)) for name in LOOK_UPS}

    assert {command for command in commands if not re.search(rf"{re.escape(command)}\b", text)} == set()


def test_every_alert_has_its_entry_in_the_runbook() -> None:
    entries = [heading for heading in headings("runbook.md") if heading.startswith("`")]

    explained = sorted(name for heading in entries for name in re.findall(r"`([^`]+)`", heading))

    assert explained == sorted(CATALOGUE)
    assert {kind.anchor for kind in CATALOGUE.values()} == set(map(anchor, entries))


def test_every_kind_of_alert_links_to_its_own_entry() -> None:
    for name, kind in CATALOGUE.items():
        (heading,) = [title for title in headings("runbook.md") if anchor(title) == kind.anchor]
        assert f"`{name}`" in heading


def test_every_way_to_be_unresolved_has_its_entry_in_the_runbook() -> None:
    for kind, operation in operations.kinds().items():
        assert LOST_ANSWERS[operation.endpoint] in headings("runbook.md"), kind
    for where, heading in OTHER_WAYS.items():
        path, _, marker = where.partition(": ")
        assert marker in (ROOT / path).read_text(), where
        assert heading in headings("runbook.md")


@pytest.mark.parametrize(
    ("page", "least"), [("design.md", 40), ("where-is-it.md", 60), ("contributing.md", 8)]
)
def test_every_path_that_a_page_names_is_there(page: str, least: int) -> None:
    named = re.findall(r"`([a-z_]+(?:/[\w.]+)+)`", (DOCS / page).read_text())

    assert len(named) >= least
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_every_link_to_a_heading_finds_it(page: Path) -> None:
    for file, wanted in re.findall(r"\]\(([^)#\s]*)#([^)]+)\)", page.read_text()):
        titles = headings(file or page.name)
        assert wanted in set(map(anchor, titles)), f"{file}#{wanted}"


def test_the_readme_shows_the_running_page() -> None:
    view = DOCS / "images" / "countersign.png"

    assert f"]({view.relative_to(ROOT)})" in (ROOT / "README.md").read_text()
    assert view.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(view.read_bytes()[16:20]) == 1400, "its width"


def test_the_changelog_has_the_form_of_keep_a_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()

    assert text.startswith("# Changelog\n")
    versions = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", version) for version in versions[1:])
    sections = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert set(sections) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_changelog_says_every_change_once_and_in_whole_sentences() -> None:
    _, *entries = re.split(r"^- ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)

    said = [re.split(r"\n+(?=#)", entry)[0].strip() for entry in entries]

    # A merge that went wrong once left eleven lines.
    assert len(said) >= 180
    beginnings = Counter(entry[:60] for entry in said)
    assert [beginning for beginning, times in beginnings.items() if times > 1] == []
    # The lines of an entry that merging has put behind another begin in the middle of a sentence.
    assert [e for e in said if not e.endswith((".", ")")) or re.search(r"\.\n  [a-z]", e)] == []


@pytest.mark.parametrize(
    "page", ["README.md", "docs/quickstart.md", "docs/install.md", "docs/deploy.md", "docs/runbook.md"]
)
def test_who_is_stuck_is_sent_to_the_doctor(page: str) -> None:
    assert "`countersign doctor`" in (ROOT / page).read_text()


def test_every_page_is_on_the_list_of_pages() -> None:
    listed = set(re.findall(r"\]\(([a-z-]+\.md)\)", (DOCS / "index.md").read_text()))

    assert listed == {page.name for page in DOCS.glob("*.md")} - {"index.md"}


def test_the_table_of_permissions_is_the_manifest() -> None:
    text = (DOCS / "install.md").read_text()
    table = text[text.index("## Permissions") : text.index("## A second program")]
    explained = {
        scope
        for cell in re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE)
        for scope in re.findall(r"`(.+?)`", cell)
    }

    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text())

    assert explained == set(manifest["oauth_config"]["scopes"]["bot"])
