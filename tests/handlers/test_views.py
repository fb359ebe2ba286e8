"""Every view: within Slack's limits, as the snapshot has it, and never saying more than we meant."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from bot import operations
from handlers.views import blocks as b
from handlers.views import lookups, plain
from handlers.views.requests import forms
from sandbox.slack.block_kit import limits
from tests.handlers.every_view import MESSAGES, VIEWS
from tests.handlers.sample_requests import WORDS
from tests.support.samples import examples
from tests.support.view_text import view_text

SNAPSHOTS = Path(__file__).parents[1] / "snapshots"
LOOKUPS = Path(lookups.__file__).parent
ALL = {**MESSAGES, **VIEWS}
# What is posted where several people see it; the rest are answers to the one who asked.
_POSTED = ("card", "line", "direct", "alert", "digest", "batch")
POSTED = {n: draw for n, draw in MESSAGES.items() if n.split("-")[0] in _POSTED and n != "card-show"}
# What we write ourselves: people who act, moments, one channel, one link to the request's own card.
OURS = re.compile(
    r"<(@U[A-Z0-9]+|!subteam\^S[A-Z0-9]+|#C[A-Z0-9]+|!date\^\d+\^[^|<>]*\|[^<>]*|https://a\.slack\.com/[^<>]*"
    r"|https://countersign\.example\.com/details#[^<>]*)>"
)
LINKISH = re.compile(
    r"(?i)\b(?:https?|mailto|tel|ftp)://|\bwww\.[a-z]|[a-z0-9]\.(?:cc|com|net|org|io|example)\b"
)
INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\x00-\x09\x0b-\x1f\x7f-\x9f]")

NASTY = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(
            [
                "<!channel>", "<!here>", "<@U0CAROL>", "<https://evil.cc|50.00 USD>", "WWW.EVIL.CC/X", "https://evil.cc",
                "mailto:a@evil.com", "&lt;!channel&gt;", "*bold*", "`code`", "\u202egnp.exe", "\u200b", "\x00", "\n",
                ":", ">", "<", "&", "|", "^", "<!date^1^{date}^x>", "🙂", "ALICE", " ", "••4242",
            ]
        ),
        max_size=12,
    ).map("".join),
)  # fmt: skip


def texts(value: Any, kind: str = "") -> Iterator[tuple[str, str]]:
    """Each text of a view with the kind of object it stands in."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "text" and isinstance(inner, str):
                yield str(value.get("type", "message")), inner
            else:
                yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


@pytest.mark.by_turns(5)
@pytest.mark.sampled
@pytest.mark.parametrize("name", sorted(ALL))
@settings(max_examples=examples(8, full=100))
@example("<https://evil.cc|50.00 USD> <!channel> WWW.EVIL.CC/X")
@example("x" * 5000)
@given(text=NASTY)
def test_what_people_write_never_becomes_markup_or_a_link(name: str, text: str) -> None:
    drawn = ALL[name](text)

    for kind, shown in texts(drawn):
        if kind in ("mrkdwn", "message"):
            rest = OURS.sub("", shown)
            assert "<" not in rest, shown
            assert ">" not in rest, shown
            assert not LINKISH.search(rest), shown
        assert kind == "raw_text" or not INVISIBLE.search(shown), shown
    assert all(part.get("verbatim") for part in _objects(drawn) if part.get("type") == "mrkdwn")


@pytest.mark.by_turns(5)
@pytest.mark.sampled
@pytest.mark.parametrize("name", sorted(ALL))
@settings(max_examples=examples(3, full=30))
@example("")
@example("x" * 5000)
@example("<" * 5000)
@given(text=NASTY)
def test_every_view_keeps_slacks_limits(name: str, text: str) -> None:
    drawn = ALL[name](text)

    if name in MESSAGES:
        assert drawn["text"].strip()
        assert len(drawn["text"]) <= 4000
        assert limits.message_complaints(drawn["blocks"]) == []
    else:
        assert limits.view_complaints(drawn, (drawn["type"],)) == []
        assert len(json.dumps(drawn)) < 250_000
        View(**drawn).to_dict()
    for block in drawn["blocks"]:
        if block["type"] == "data_visualization":
            continue  # Slack's SDK knows no charts; their form is checked by test_charts.py
        parsed = Block.parse(block)
        assert parsed is not None, block["type"]
        parsed.to_dict()
    assert sum(map(b.weight, drawn["blocks"])) <= 10_000
    assert any(part.get("type") == "input" for part in drawn["blocks"]) <= ("submit" in drawn)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner)


@pytest.mark.parametrize("name", sorted(ALL))
def test_views_look_as_they_did(name: str) -> None:
    """Rewrite with SNAPSHOTS=write, and read the diff."""
    drawn = view_text(ALL[name](WORDS))
    path = SNAPSHOTS / f"{name}.txt"

    if os.environ.get("SNAPSHOTS") == "write":
        path.write_text(drawn)
    assert path.exists(), f"no snapshot of {name}: run with SNAPSHOTS=write"
    assert drawn == path.read_text()


def test_every_snapshot_has_its_view() -> None:
    assert {path.name for path in SNAPSHOTS.iterdir()} == {f"{name}.txt" for name in ALL}


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_buttons_of_a_request_carry_its_id_and_version_and_nothing_else(name: str) -> None:
    for part in _objects(MESSAGES[name](WORDS)):
        if part.get("type") == "button" and part["action_id"].startswith("request:"):
            assert part["value"] == "R-7K3M:3"


@pytest.mark.parametrize("name", sorted(n for n in VIEWS if not n.startswith("home")))
def test_hidden_fields_of_modals_hold_ids_only(name: str) -> None:
    planted = "planted value"
    meta = json.loads(VIEWS[name](planted).get("private_metadata") or "{}")

    assert set(meta) <= {
        "kind",
        "channel",
        "draft",
        "request",
        "version",
        "digest",
        "alert",
        "program",
        "read",
    }
    assert planted not in str(meta)


def test_the_card_says_state_in_words_and_shows_the_right_buttons() -> None:
    shown = {
        state: [
            e.get("text", {}).get("text") for e in MESSAGES[f"card-{state}"](WORDS)["blocks"][-1]["elements"]
        ]
        for state in ("pending", "approved", "executing", "unresolved", "succeeded", "failed", "rejected")
    }

    assert shown == {
        "pending": ["Approve", "Reject", None],
        "approved": [None],
        "executing": ["Details"],
        "unresolved": ["Resolve", "Details"],
        "succeeded": ["Details"],
        "failed": ["Request again", "Details"],
        "rejected": ["Request again", "Details"],
    }
    frozen_now = MESSAGES["card-freeze-now"](WORDS)["blocks"][-1]["elements"]
    assert [e["text"]["text"] for e in frozen_now] == ["Confirm", "Undo", "Details"]


@pytest.mark.parametrize("name", sorted(POSTED))
def test_a_message_mentions_those_who_are_asked_to_act_and_nobody_else(name: str) -> None:
    """Everybody else stands there by name: a mention notifies."""
    asking = {
        "batch-pending",
        "card-pending",
        "card-pending-paused",
        "line-approval",
        "line-reminder",
        "alert-line",
    }
    mentioned = set(re.findall(r"<(?:@|!subteam\^)([A-Z0-9]+)>", json.dumps(POSTED[name](WORDS))))

    assert mentioned <= ({"S0APPROVERS", "U0CAROL"} if name in asking else set())
    assert mentioned or name not in asking


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_without_its_layout_a_message_still_says_all_that_it_said(name: str) -> None:
    """What Slack refuses to lay out is sent as plain text: amount, reason, effect, expiry and who may approve, too."""
    drawn = MESSAGES[name](WORDS)
    said = plain.text_of(drawn)

    assert len(said) <= plain.LONGEST
    assert said.startswith(drawn["text"][: plain.LONGEST - 10])
    if not said.endswith("…"):
        shown = [block for block in drawn["blocks"] if block["type"] in ("header", "section", "context")]
        for block in shown:
            parts = [block["text"]] if "text" in block else []
            parts += [*block.get("fields", ()), *(e for e in block.get("elements", ()) if "text" in e)]
            for part in parts:
                text = part["text"] if part["type"] == "mrkdwn" else b.esc(part["text"])
                assert text in said, name


def blocks_of(name: str) -> list[str]:
    return [block["block_id"] for block in VIEWS[name](WORDS)["blocks"] if block["type"] == "input"]


def test_the_program_is_asked_for_only_where_no_card_tells_it() -> None:
    assert blocks_of("form-card_order")[0] == "program"
    assert blocks_of("form-funding_submit")[0] == "program"
    assert "program" not in blocks_of("form-card_topup")
    one = forms.form(operations.kinds()["card_order"], forms.Filled(), programs=("main",))
    assert "program" not in str([block.get("block_id") for block in one["blocks"]])


def test_freeze_now_is_offered_for_a_freeze_where_the_policy_allows_it() -> None:
    freeze = operations.kinds()["card_freeze"]

    assert blocks_of("form-card_freeze") == ["card", "run_now", "reason"]
    assert "run_now" not in blocks_of("form-card_unfreeze")
    assert "run_now" not in str(forms.form(freeze, forms.Filled(), run_now=False))


def drawn_by_name(source: str) -> set[str]:
    """The public functions that give a whole message or view, in a module of views."""
    return {
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and node.returns is not None
        and ast.unparse(node.returns) in ("b.Block", "Block")
    }


def test_the_answer_of_every_look_up_is_among_the_views() -> None:
    """So that it is tested with text that other people wrote, against Slack's limits and against its snapshot."""
    given = Path(__file__).parent.glob("*_view*.py")
    named = {
        node.attr
        for path in given
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
    }
    answers = {path.stem: drawn_by_name(path.read_text()) for path in LOOKUPS.glob("*.py")}

    assert sum(map(len, answers.values())) > 15
    assert {room: missing for room, names in answers.items() if (missing := names - named)} == {}


def test_a_view_that_nobody_draws_here_would_be_found() -> None:
    assert drawn_by_name("def peak(a: int) -> b.Block: ...\ndef _x() -> b.Block: ...") == {"peak"}
