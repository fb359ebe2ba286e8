"""docs/messages.md is what the views draw, with every kind of alert and every state in it, and no private word."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from bot.domain.alerts.catalogue import CATALOGUE
from bot.domain.requests import State
from handlers.views import alerts
from handlers.views.requests.states import WORDS
from tests.messages import alert_samples
from tests.support.docs_scripts import docs_script
from tests.test_names import _SPOKEN

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "messages.md"
#: What is posted without a command or a press of the person who reads it.
POSTED = (
    "A request in the approvals channel",
    "Its thread",
    "Direct messages to the requester",
    "Alerts",
    "Alerts that are over",
)
POSTED_FOR_THOSE_WHO_RUN_IT = {
    "In the thread of an alert",
    "In the thread of an alert, by a person",
    "One-time code, to one person",
}

#: What people of the samples have written and what merchants are called; last what is a part of stored requests.
NOT_OURS = (
    *("Office Depot", "asked Marta on her office phone", "• office →", "The card shows 308.34 USD."),
    "for the service's events",
)


def test_the_page_of_messages_is_what_the_views_draw() -> None:
    assert PAGE.read_text(encoding="utf-8") == docs_script("messages").page(), "make docs writes it again"


def test_every_alert_in_every_case_and_every_state_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for kind in CATALOGUE.values():
        for case in (*kind.wordings, *kind.endings):
            assert f"### {kind.name}: {case}\n" in page if case else f"### {kind.name}\n" in page, (
                kind.name,
                case,
            )
    for state in State:
        assert f"· {WORDS[state]}" in page, state


def test_the_first_line_of_what_countersign_posts_by_itself_says_whether_money_is_real() -> None:
    """A phone shows no more of it, and one person may work with a sandbox and with real money."""
    all_of = docs_script("messages").sections()
    posted = [
        *(sample for title in POSTED for sample in all_of[title]),
        *(found for found in all_of["For those who run it"] if found[0] in POSTED_FOR_THOSE_WHO_RUN_IT),
    ]
    assert len(posted) > 100

    assert [
        name for name, drawn in posted if not re.match(r"(DRAFT ONLY · )?(LIVE|SANDBOX) · ", drawn["text"])
    ] == []


def test_a_closed_alert_was_last_seen_before_it_was_closed() -> None:
    """How it ended is no further sight of what it was about."""
    one = replace(next(view for _, view in alert_samples.ended()), count=6)

    assert "seen 6 times ·" in str(alerts.alert(one))


def test_no_message_on_the_page_holds_a_private_word_or_a_time_in_utc() -> None:
    drawn = re.sub(r"`[^`\n]+`", "", PAGE.read_text(encoding="utf-8").partition("\n## ")[2])
    for words in NOT_OURS:
        assert words in drawn, "stands on the page no more"
        drawn = drawn.replace(words, "")

    assert [found[0] for found in _SPOKEN.finditer(drawn)] == []
    # To the second it is said in the text for the card provider, which is in no zone of ours.
    assert re.findall(r"[ T][0-9]{2}:[0-9]{2} UTC", drawn) == []


def test_there_is_a_space_between_two_sentences() -> None:
    drawn = PAGE.read_text(encoding="utf-8").partition("\n## ")[2]

    assert re.findall(r".{0,20}[a-z)][.!?][A-Z][a-z].{0,20}", drawn) == []
