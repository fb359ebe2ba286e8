"""docs/messages.md is what the views draw, with every kind of alert and every state in it, and no private word."""

from __future__ import annotations

import re
from pathlib import Path

from bot.domain.alerts.catalogue import CATALOGUE
from bot.domain.requests import State
from handlers.views.requests.states import WORDS
from tests.support.docs_scripts import docs_script
from tests.test_names import _SPOKEN

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "messages.md"


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


def test_no_message_on_the_page_holds_a_private_word_or_a_time_in_utc() -> None:
    drawn = re.sub(r"`[^`]*`", "", PAGE.read_text(encoding="utf-8").partition("\n## ")[2])

    assert [found[0] for found in _SPOKEN.finditer(drawn)] == []
    assert re.findall(r"[0-9]{2}:[0-9]{2} UTC", drawn) == []
