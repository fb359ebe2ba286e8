"""What is done in one place is done nowhere else: judging a second person, writing the record, asking for a role."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bot
import bot.cli
import bot.cli.terminal
import bot.domain.money.amounts
import bot.domain.people.delegation
import bot.domain.requests.approvals
import bot.domain.sentences
import bot.operations._facts
import bot.operations.fees_markup
import bot.operations.readers
import bot.partner.codec
import bot.partner.models.base
import bot.partner.models.webhooks
import bot.services
import bot.services.audit
import bot.services.people
import bot.together
import handlers
import storage
import storage.columns
from bot.intents.by_sentence import story_values
from bot.intents.extraction import amounts, entity_extraction, number_words
from tests.support.source_trees import tree_of, walk

SERVICES = Path(bot.services.__file__).parent
CLI = Path(bot.cli.__file__).parent
EXECUTION = SERVICES / "execution"
EVERYWHERE = [Path(package.__file__ or "").parent for package in (bot, handlers, storage)]
AUDIT = Path(bot.services.audit.__file__)
PEOPLE = Path(bot.services.people.__file__)
SENTENCES = Path(bot.domain.sentences.__file__)
EVENT_MODELS = Path(bot.partner.models.webhooks.__file__)
SECOND_PERSON = {Path(bot.domain.requests.approvals.__file__), Path(bot.domain.people.delegation.__file__)}

# Where text of people, of the API and of the database becomes an amount; and the values of one file's own tables.
READ_FROM_TEXT = {
    Path(module.__file__ or "")
    for module in (
        *(
            bot.domain.money.amounts,
            bot.operations.readers,
            bot.operations._facts,
            bot.operations.fees_markup,
        ),
        *(amounts, number_words, entity_extraction, story_values),
        *(bot.partner.codec, bot.partner.models.base, storage.columns),
    )
}

# What tells who has a role now; whoever refuses by it does so through `people`.
_ROLES = {"roles", "roles_lately", "admins", "approvers"}


def printed_as_it_is(tree: ast.AST) -> Iterator[ast.AST]:
    """What somebody wrote into the database would steer the terminal: `terminal.echo` shows it harmless."""
    for node in walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "print",
            "typer.echo",
            "typer.secho",
            "click.echo",
        ):
            yield node


def calls_of_the_chain(tree: ast.AST) -> Iterator[ast.AST]:
    """`append` of `storage.audit`, by whatever name it was imported."""
    names = {
        alias.asname or alias.name
        for node in walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "storage"
        for alias in node.names
        if alias.name == "audit"
    }
    for node in walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "storage.audit":
            yield from (node for alias in node.names if alias.name == "append")
        if isinstance(node, ast.Attribute) and node.attr == "append" and ast.unparse(node.value) in names:
            yield node


def refusals_on_record(tree: ast.AST) -> Iterator[ast.AST]:
    """An audit entry with the outcome `refused`, and helpers of that name."""
    for node in walk(tree):
        if isinstance(node, ast.Constant) and node.value == "refused":
            yield node
        if isinstance(node, ast.Attribute) and node.attr == "refused":
            yield node


def refusals_for_a_role(tree: ast.AST) -> Iterator[ast.AST]:
    """`if …` about who has a role, with a `raise` under it."""
    for node in walk(tree):
        if not isinstance(node, ast.If) or not any(isinstance(n, ast.Raise) for n in walk(node)):
            continue
        names = {n.attr for n in walk(node.test) if isinstance(n, ast.Attribute)}
        if names & _ROLES and any(isinstance(n, ast.In | ast.NotIn) for n in walk(node.test)):
            yield node


def seats_compared(tree: ast.AST) -> Iterator[ast.AST]:
    """`Standing.are_one`, which only the rule of the second person asks."""
    for node in walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "are_one":
            yield node


def approvals_counted(tree: ast.AST) -> Iterator[ast.AST]:
    """People without the requester: those who count are named by `second_people`."""
    for node in walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            yield from (n for n in walk(node.right) if isinstance(n, ast.Attribute) and n.attr == "requester")


def alerts_raised(tree: ast.AST) -> Iterator[ast.AST]:
    """`alerts.raise_`: an execution says which alert by an effect, and the writer of effects raises it."""
    for node in walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "alerts.raise_":
            yield node


def texts_made_amounts(tree: ast.AST) -> Iterator[ast.AST]:
    """`Decimal(x)` of what is not written there: typed values stay typed from where they are read to storage."""
    for node in walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Decimal":
            parts = [part for argument in node.args for part in walk(argument)]
            if any(isinstance(part, ast.Name | ast.Attribute | ast.Subscript | ast.Call) for part in parts):
                yield node


def codes_event_named(tree: ast.AST) -> Iterator[ast.AST]:
    """The event that holds a one-time code, written out."""
    for node in walk(tree):
        if isinstance(node, ast.Constant) and node.value == "card.3ds_challenge":
            yield node


def fifteen_minutes_said(tree: ast.AST) -> Iterator[ast.AST]:
    """How long an approval holds, or how lately a delivery was verified, as words that the figure does not change."""
    explained = {id(node.value) for node in walk(tree) if isinstance(node, ast.Expr)}
    for node in walk(tree):
        if isinstance(node, ast.Constant) and "15 minutes" in str(node.value) and id(node) not in explained:
            yield node


def live_programs_read(tree: ast.AST) -> Iterator[ast.AST]:
    """`core.live`: which word a message says, LIVE or SANDBOX, is asked of `Core.is_live`."""
    for node in walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node).endswith("core.live"):
            yield node


def full_stops_added(tree: ast.AST) -> Iterator[ast.AST]:
    """The endings of a sentence listed, to see whether a text lacks its full stop; or that taken off and put back."""
    for node in walk(tree):
        if isinstance(node, ast.Tuple) and {".", "!", "?"} <= {getattr(e, "value", None) for e in node.elts}:
            yield node
        if isinstance(node, ast.FormattedValue) and ast.unparse(node.value).endswith(".rstrip('.')"):
            yield node


def groups_of_tasks(tree: ast.AST) -> Iterator[ast.AST]:
    """`asyncio.TaskGroup`, which hides in a group what went wrong in it."""
    for node in walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node).endswith("TaskGroup"):
            yield node
        if isinstance(node, ast.ImportFrom) and any(alias.name == "TaskGroup" for alias in node.names):
            yield node


Find = Callable[[ast.AST], Iterator[ast.AST]]

# What is looked for, where, and the modules that may: with an example of what each must find.
RULES: list[tuple[Find, list[Path], set[Path], str]] = [
    (calls_of_the_chain, [SERVICES], {AUDIT}, "from storage import audit as a\na.append(tx)"),
    (calls_of_the_chain, [SERVICES], {AUDIT}, "from storage.audit import append"),
    (refusals_on_record, [SERVICES], {AUDIT}, "await people.refused(core, who, 'x', '', 'y')"),
    (refusals_for_a_role, [SERVICES], {PEOPLE}, "if who not in await people.admins(core):\n    raise No()"),
    (seats_compared, EVERYWHERE, SECOND_PERSON, "standing.are_one(a, b)"),
    (alerts_raised, [EXECUTION], {EXECUTION / "effect_writer.py"}, "await alerts.raise_(tx, core)"),
    (texts_made_amounts, EVERYWHERE, READ_FROM_TEXT, 'Decimal(kept.value["balance_usd"])'),
    (codes_event_named, EVERYWHERE, {EVENT_MODELS}, 'NEVER = {"card.3ds_challenge"}'),
    (fifteen_minutes_said, EVERYWHERE, set(), 'text = f"{why} It waits 15 minutes at most."'),
    (live_programs_read, EVERYWHERE, set(), "live = all(self._core.live.values())"),
    (full_stops_added, EVERYWHERE, {SENTENCES}, 'text.endswith((".", "!", "?"))'),
    (full_stops_added, EVERYWHERE, {SENTENCES}, "text = f\"{why.rstrip('.')}. Try again.\""),
    (approvals_counted, EVERYWHERE, set(), "len(given - {request.requester}) >= 1"),
    (printed_as_it_is, [CLI], {Path(bot.cli.terminal.__file__)}, "typer.echo(program.name)"),
    (printed_as_it_is, [CLI], {Path(bot.cli.terminal.__file__)}, "print(program.name)"),
    (
        groups_of_tasks,
        EVERYWHERE,
        {Path(bot.together.__file__)},
        "async with asyncio.TaskGroup() as group: pass",
    ),
]


@pytest.mark.parametrize(("find", "where", "allowed", "example"), RULES)
def test_what_is_done_in_one_place_is_done_nowhere_else(
    find: Find, where: list[Path], allowed: set[Path], example: str
) -> None:
    assert list(find(ast.parse(example))), "the rule does not find what it forbids"

    found = {
        f"{path}:{getattr(node, 'lineno', 0)}"
        for folder in where
        for path in folder.rglob("*.py")
        if path not in allowed
        for node in find(tree_of(path))
    }

    assert not found


def filters_after_a_bounded_search(tree: ast.AST) -> Iterator[ast.AST]:
    """`requests.find` without a program in a function that then compares the program of what was found.

    The search ends at a limit, so requests of another program would hide those of this one.
    """
    for function in walk(tree):
        if not isinstance(function, ast.AsyncFunctionDef):
            continue
        found = [
            call
            for call in walk(function)
            if isinstance(call, ast.Call)
            and ast.unparse(call.func) == "requests.find"
            and not any(keyword.arg == "program" for keyword in call.keywords)
        ]
        if found and any(
            isinstance(node, ast.Compare) and ".program" in ast.unparse(node) for node in walk(function)
        ):
            yield from found


def test_a_search_for_one_program_names_it_in_the_search() -> None:
    assert {
        str(path.relative_to(SERVICES))
        for path in SERVICES.rglob("*.py")
        if any(filters_after_a_bounded_search(tree_of(path)))
    } == set()


def test_only_storage_says_whether_a_lease_lasts_as_it_runs_on_the_clock_of_the_database() -> None:
    found = [
        f"{path}:{node.lineno}"
        for package in EVERYWHERE
        if package != Path(storage.__file__ or "").parent
        for path in package.rglob("*.py")
        for node in walk(tree_of(path))
        if isinstance(node, ast.Compare)
        and any(
            isinstance(part, ast.Attribute) and part.attr == "lease_until"
            for part in (node.left, *node.comparators)
        )
        and not all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
    ]

    assert found == []
