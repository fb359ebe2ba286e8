"""Writes what the code knows better than people: `make docs` runs it and a test says when it is due.

docs/cli.md from the command, docs/countersign.schema.json from the models of the settings; in other pages
what stands between `<!-- made: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer.main

from bot.cli import app
from bot.config import reference
from bot.domain.alerts import catalogue
from bot.domain.requests import TRANSITIONS, State
from bot.operations import kinds
from bot.partner.answers import COMMON, NO_ANSWER, Answer, Finding, Key, Pair
from bot.partner.client import ENDPOINTS
from sandbox.partner.control import CALLS as PARTNER_CALLS
from sandbox.partner.control import description as partner_description
from sandbox.slack.control import CALLS as SLACK_CALLS
from sandbox.slack.control import description as slack_description
from storage.protection import column_protection
from storage.tables import metadata

ROOT = Path(__file__).parents[1]
TARGET = Path(__file__).with_name("cli.md")
PAGES = tuple(
    Path(__file__).with_name(name)
    for name in (
        *("alerts.md", "answers.md", "approvals.md", "design.md", "operations.md", "scale.md", "security.md"),
        *("settings.md", "simulator.md", "slack-stand-in.md"),
    )
)
SCHEMA = Path(__file__).with_name("countersign.schema.json")


def cli_page() -> str:
    """The page: one heading a command, its help and its options."""
    lines = [
        "# Commands",
        "",
        "Made by `make docs` from the command itself; every command also answers `--help`.",
        "",
        "Exit codes: 0 done · 1 not done, or not well · 2 cannot be done as asked (usage, settings, a database"
        " that cannot be read) · 78 the master key does not fit the database.",
    ]
    for path, command in _walk(typer.main.get_command(app), ""):
        lines += ["", f"## countersign{path}", "", *_help(command)]
        options = [parameter for parameter in command.params if parameter.name != "help"]
        if options:
            lines += ["", "| | |", "|---|---|", *map(_row, options)]
    return "\n".join(lines) + "\n"


def _walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", {})
    if path and not children:
        yield path, command
    for name, child in children.items():
        yield from _walk(child, f"{path} {name}")


def _help(command: Any) -> list[str]:
    paragraphs = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    return "\n\n".join(paragraphs).split("\n")


def _row(parameter: Any) -> str:
    is_argument = parameter.param_type_name == "argument"
    name = parameter.name.upper() if is_argument else ", ".join([*parameter.opts, *parameter.secondary_opts])
    shows_default = not is_argument and not parameter.is_flag and parameter.default not in (None, "")
    default = (
        f" Default: `{getattr(parameter.default, 'value', parameter.default)}`." if shows_default else ""
    )
    return f"| `{name}` | {' '.join((parameter.help or '').split())}{default} |"


def states_diagram() -> str:
    """The life of a request, drawn from the table that moves it."""
    moves: dict[tuple[State, State], list[str]] = defaultdict(list)
    for state, row in TRANSITIONS.items():
        for event, target in row.items():
            moves[state, target].append(event.value.replace("_", " "))
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> pending"]
    lines += [f"    {state} --> {target}: {', '.join(events)}" for (state, target), events in moves.items()]
    lines += [f"    {state} --> [*]" for state, row in TRANSITIONS.items() if not row]
    return "\n".join([*lines, "```"])


def operations_table() -> str:
    """A row for each operation kind there is."""
    lines = ["| kind | command | what it does | fields |", "|---|---|---|---|"]
    for name, kind in kinds().items():
        fields = [f"{f.label}{' (optional)' if f.optional else ''}" for f in kind.fields]
        shown = ", ".join(filter(None, [*fields, "Reason", kind.handling.run_now]))
        command = " ".join(kind.command)
        lines.append(f"| `{name}` | `/{command}` | {kind.help} | {shown} |")
    return "\n".join(lines)


def columns_table() -> str:
    """Each table with its columns by class, and in words why whoever changes them gains nothing."""
    lines = ["| table | columns | class | what stops who changes them |", "|---|---|---|---|"]
    for table in sorted(metadata.tables):
        alike: dict[column_protection.Protection, list[str]] = defaultdict(list)
        for column, protection in column_protection.of_table(table).items():
            alike[protection].append(f"`{column}`")
        for protection, columns in alike.items():
            lines.append(f"| `{table}` | {', '.join(columns)} | {protection.by} | {protection.why} |")
    return "\n".join(lines)


def readings_table() -> str:
    """What whoever changes a reading gains, by its name."""
    lines = ["| readings whose name begins with | class | what stops who changes them |", "|---|---|---|"]
    alike: dict[column_protection.Protection, list[str]] = defaultdict(list)
    for name, protection in column_protection.READINGS.items():
        alike[protection].append(f"`{name}`")
    lines += [f"| {', '.join(names)} | {one.by} | {one.why} |" for one, names in alike.items()]
    return "\n".join(lines)


_IN_WORDS = {
    Finding.REFUSED: "failed",
    Finding.NOTHING_YET: "not executed",
    Finding.WAIT: "waits",
    Finding.HELD: "held",
    Finding.UNKNOWN: "unknown",
    Finding.UNRESOLVED: "unresolved",
    Finding.EVIDENCE: "looked up",
}
_KEY_IN_WORDS = {Key.KEPT: "", Key.SPENT: "spent", Key.RELEASED: "released"}
_HEAD = ["| endpoint | answer | first | after a doubt | key | repeats |", "|---|---|---|---|---|---|"]


def answers_tables() -> str:
    """A table a chapter: what each endpoint that changes something says beyond what all of them do."""
    lines = ["## Every endpoint", "", *_HEAD, *_answer_rows("every", COMMON.items())]
    chapter = ""
    for endpoint in ENDPOINTS:
        if not endpoint.facts.changes:
            continue
        if endpoint.chapter != chapter:
            chapter = endpoint.chapter
            lines += ["", f"## {chapter}", "", *_HEAD]
        own = [(pair, row) for pair, row in endpoint.rows.items() if COMMON.get(pair) != row]
        lines += _answer_rows(f"`{endpoint}`", sorted(own, key=_by_status))
    return "\n".join(lines)


def _by_status(cell: tuple[Pair, Answer]) -> tuple[bool, int, bool]:
    (status, code), _ = cell
    return status is None, status or 0, code is None


def _answer_rows(endpoint: str, rows: Iterable[tuple[Pair, Answer]]) -> Iterator[str]:
    for pair, row in rows:
        first, after = _IN_WORDS[row.first], _IN_WORDS[row.after_doubt]
        yield f"| {endpoint} | {_answer(pair)} | {first} | {after} | {_KEY_IN_WORDS[row.key]} | {row.repeats or ''} |"


def _answer(pair: Pair) -> str:
    status, code = pair
    if pair == NO_ANSWER:
        return "no answer"
    return f"`{status} {code}`" if code else f"{status}, and no code of the document"


# From what people see to what everything rests on; a room's own rooms follow it.
_FLOORS = (
    *(
        "handlers",
        "bot.services",
        "bot.view_models",
        "bot.engine",
        "bot.details",
        "storage",
        "bot.intents",
        "bot.operations",
    ),
    *(
        "bot.outcomes",
        "bot.partner",
        "bot.domain",
        "bot.config",
        "bot.cli",
        "sandbox.partner",
        "sandbox.slack",
    ),
)
_NOT_ROOMS = ("storage.migrations", "storage.migrations.versions")


def rooms_table() -> str:
    """Every room with the first sentence of its door."""
    lines = ["| room | what it is for |", "|---|---|"]
    for floor in _FLOORS:
        folder = ROOT.joinpath(*floor.split("."))
        for door in sorted(folder.rglob("__init__.py")):
            name = ".".join(door.parent.relative_to(ROOT).parts)
            if name not in _NOT_ROOMS:
                lines.append(f"| `{name}` | {_first_sentence(door)} |")
    return "\n".join(lines)


def _first_sentence(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def alerts_table() -> str:
    """A row for each kind of alert there is, with a link to what to do about it."""
    lines = [
        "| kind | reported when | severity | over when | mentions people | can be muted | found by |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, kind in catalogue.CATALOGUE.items():
        entry = f"[`{name}`](runbook.md#{kind.anchor})"
        calls = kind.calls_when or "–"
        muted = "yes" if kind.is_mutable else "no"
        severity = ", ".join(kind.severities)
        row = (entry, kind.raised_when, severity, kind.ends, calls, muted, kind.found_by)
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def partner_control_table() -> str:
    """A row for each control call of the simulator, with its body."""
    return _control_table(partner_description.document(PARTNER_CALLS))


def slack_control_table() -> str:
    """A row for each control call of the Slack stand-in, with its body."""
    bodies = {name: (call.summary, call.fields) for name, call in SLACK_CALLS.items()}
    return _control_table(slack_description.document(bodies))


def _control_table(document: dict[str, Any]) -> str:
    lines = ["| call | body | what it does |", "|---|---|---|"]
    components = document.get("components", {}).get("schemas", {})
    for path, methods in document["paths"].items():
        short = re.sub(r"\{[^}]*\}", "{}", path.removeprefix("/_control").removeprefix("/"))
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            body = _fields(_followed(schema, components), components)
            name = " ".join(part for part in (method.upper(), short) if part)
            lines.append(f"| `{name}` | {body or '–'} | {operation['summary'].replace('|', '/')} |")
    return "\n".join(lines)


_LONG = 12  # a body with more fields is listed elsewhere on its page


def _fields(schema: dict[str, Any], components: dict[str, Any]) -> str:
    """The fields of a body, those that may be left out with a question mark."""
    fields, needed = schema.get("properties", {}), schema.get("required", [])
    if len(fields) > _LONG:
        return "see below"
    shown = []
    for name in sorted(fields, key=lambda one: one not in needed):
        words = _values(fields[name], components)
        listed = f" ({words})" if words else ""
        shown.append(f"`{name}{'' if name in needed else '?'}`{listed}")
    return ", ".join(shown)


def _values(schema: dict[str, Any], components: dict[str, Any]) -> str:
    """What a field takes, where that is a short list of words, a number, a list or an object."""
    schema = _followed(schema, components)
    for one in schema.get("anyOf", ()):
        if words := _values(one, components):
            return words
    if "enum" in schema and len(schema["enum"]) <= _LONG:
        return ", ".join(
            f"`{'true' if word is True else word}`" for word in schema["enum"] if word is not None
        )
    kind = schema.get("type")
    of_each = _followed(schema.get("items") or {}, components).get("properties") or {}
    if of_each:
        needed = _followed(schema["items"], components).get("required", ())
        names = [f"`{name}`" if name in needed else f"`{name}?`" for name in of_each]
        return f"list of objects with {', '.join(names)}"
    kinds = [
        one for one in (kind if isinstance(kind, list) else [kind]) if one not in ("null", "string", None)
    ]
    return (
        {"array": "list", "boolean": "true or false", "integer": "whole number"}.get(kinds[0], kinds[0])
        if kinds
        else ""
    )


def _followed(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return components[reference.rpartition("/")[2]] if reference else schema


def scale_table() -> str:
    """What sharing costs, as `python -m benchmarks --write bench_scale` measured it last."""
    text = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    found = re.search(r"^## bench_scale\n.*?(^\|.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError("bench_scale has not been measured")
    return found[1].rstrip()


MADE = {
    "scale": scale_table,
    "partner_control": partner_control_table,
    "slack_control": slack_control_table,
    "alerts": alerts_table,
    "columns": columns_table,
    "readings": readings_table,
    "answers": answers_tables,
    "rooms": rooms_table,
    "states": states_diagram,
    "operations": operations_table,
    "environment": reference.environment_table,
    "file": reference.file_table,
}


def with_made(text: str) -> str:
    """A page with its made parts written again; raises KeyError for a part that nothing makes."""
    return re.sub(
        r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)",
        lambda found: f"{found[1]}{MADE[found[2]]()}\n{found[3]}",
        text,
        flags=re.DOTALL,
    )


if __name__ == "__main__":
    TARGET.write_text(cli_page(), encoding="utf-8")
    SCHEMA.write_text(reference.json_schema(), encoding="utf-8")
    for page in PAGES:
        page.write_text(with_made(page.read_text(encoding="utf-8")), encoding="utf-8")
