"""One grammar for slash, mention and message."""

import ast
import inspect
import re
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import operations
from bot.operations import Operation
from handlers.commands import Command, all_lookups, grammar
from handlers.commands.lookup import LookUp

KINDS = operations.kinds()


@pytest.mark.parametrize(
    ("said", "command", "subcommand", "rest"),
    [
        ("card topup 4242 50", "card", "topup", "4242 50"),
        ("/card Top up 4242 50", "card", "topup", "4242 50"),
        ("<@U0BOT> card top-up ALICE MOREAU 12.50", "card", "topup", "ALICE MOREAU 12.50"),
        ("<@U0BOT|countersign>: float", "float", "", ""),
        ("FLOAT", "float", "", ""),
        ("requests R-7K3M", "requests", "show", "R-7K3M"),
        ("funding submit <https://x.cc/0xab|0xab> base", "funding", "submit", "0xab base"),
        ("card order <mailto:a@b.cc|a@b.cc> R&amp;D", "card", "order", "a@b.cc R&D"),
        ("", "", "", ""),
    ],
)
def test_a_message_reads_like_the_slash_command(said: str, command: str, subcommand: str, rest: str) -> None:
    assert grammar.from_message(said) == Command(command, subcommand, rest)


@pytest.mark.parametrize(
    ("rest", "card", "amount"),
    [
        ("4242", "4242", None),
        ("4242 50", "4242", "50"),
        ("4242 fifty", "4242", "fifty"),
        ("••4242 -5", "••4242", "-5"),
        ("alice", "alice", None),
        ("alice moreau", "alice moreau", None),
        ("alice moreau 1,250.00", "alice moreau", "1,250.00"),
        ("alice moreau $50", "alice moreau", "$50"),
        ('"Alice 2" 50', "Alice 2", "50"),
        ("“Alice 2”", "Alice 2", None),
        ("emp-42 1e3", "emp-42", "1e3"),
    ],
)
def test_names_of_several_words_need_no_quotes(rest: str, card: str, amount: str | None) -> None:
    expected = {"card": card} | ({"amount_usd": amount} if amount else {})

    assert grammar.prefill(KINDS["card_topup"], rest) == expected


def test_the_other_kinds_take_their_arguments_in_order() -> None:
    assert grammar.prefill(KINDS["card_freeze"], "alice moreau") == {"card": "alice moreau"}
    assert grammar.prefill(KINDS["funding_submit"], "0xab bsc") == {"tx_hash": "0xab", "network": "bsc"}
    assert grammar.prefill(KINDS["card_order"], "Nora Weiss") == {"card_holder_name": "Nora Weiss"}
    assert grammar.prefill(KINDS["card_order"], "") == {}


@given(st.text(max_size=300))
def test_any_text_is_read_and_its_own_text_reads_the_same(said: str) -> None:
    asked = grammar.from_message(said)

    assert grammar.from_text(asked.text).text.split() == asked.text.split()
    for cls in KINDS.values():
        assert set(grammar.prefill(cls, said)) <= {f.name for f in cls.fields}


@pytest.mark.parametrize("cls", KINDS.values(), ids=KINDS)
def test_every_example_in_help_asks_for_its_kind(cls: type[Operation]) -> None:
    assert grammar.from_text(cls.example).kind(KINDS) is cls


@pytest.mark.parametrize(
    "name", [*all_lookups.LOOK_UPS, *(cls.command for cls in KINDS.values())], ids=" ".join
)
def test_every_look_up_and_every_kind_is_read_by_the_words_it_says(name: tuple[str, str]) -> None:
    command, subcommand = name

    assert grammar.from_text(f"{command} {subcommand} 4242") == Command(command, subcommand, "4242")


def test_a_new_look_up_of_a_command_that_also_stands_alone_needs_its_row_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert grammar.from_text("float forecast 7d") == Command("float", "", "forecast 7d")

    row = replace(all_lookups.LOOK_UPS["float", "fees"], name=("float", "forecast"))
    monkeypatch.setitem(cast(dict[tuple[str, str], LookUp], all_lookups.LOOK_UPS), row.name, row)

    assert grammar.from_text("float forecast 7d") == Command("float", "forecast", "7d")


def test_the_grammar_states_no_sub_command_itself() -> None:
    """Apart from `show`, which a request's id after `/requests` means, `help`, and words that are commands, too."""
    known = {subcommand for _, subcommand in (*all_lookups.LOOK_UPS, *(c.command for c in KINDS.values()))}
    words = {word for subcommand in known for word in subcommand.split()} - {"show", *all_lookups.COMMANDS}
    stated = [n.value for n in ast.walk(ast.parse(inspect.getsource(grammar))) if isinstance(n, ast.Constant)]
    code = " ".join(text for text in stated if isinstance(text, str) and " " not in text.strip())

    assert [word for word in sorted(words) if re.search(rf"\b{re.escape(word)}\b", code)] == []
