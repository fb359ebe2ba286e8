"""A view or message as a person reviews it: a line for each thing that is seen or sent, nested things indented.

Nothing is lost: what has no form of its own is written as `key=json`. A text in quotes is plain_text, a text without
is mrkdwn. Left out are only the values that every view of ours has (`verbatim` true, `emoji` false) and Slack's own
defaults (`optional` and `multiline` false); any other value of them is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Json = dict[str, Any]
POINTS_A_LINE = 6


def view_text(drawn: Json) -> str:
    """The text of a message (`text`, `blocks`) or of a view (`type`, `blocks`, ...)."""
    rest = dict(drawn)
    blocks = rest.pop("blocks", [])
    kind = rest.pop("type", "message")
    first = " ".join([kind, *_words(rest)])
    return "\n".join([first, *(line for block in blocks for line in _block(block))]) + "\n"


def _block(block: Json) -> Iterator[str]:
    rest = dict(block)
    kind = rest.pop("type", "?")
    lines = list(BLOCKS.get(kind, _no_lines)(rest))
    # A text goes after everything else on the line.
    text = [_text(rest.pop("text"))] if kind in ("section", "header") and "text" in rest else []
    yield " ".join([kind, *_words(rest), *text])
    yield from _indented(lines)


def _no_lines(rest: Json) -> Iterator[str]:
    return iter(())


def _section(rest: Json) -> Iterator[str]:
    fields = [_text(field) for field in rest.pop("fields", ())]
    for start in range(0, len(fields), 2):
        yield " | ".join(fields[start : start + 2])
    if "accessory" in rest:
        yield from _element(rest.pop("accessory"))


def _elements(rest: Json) -> Iterator[str]:
    for element in rest.pop("elements", ()):
        yield from _element(element)


def _input(rest: Json) -> Iterator[str]:
    yield from _element(rest.pop("element", {}))


def _table(rest: Json) -> Iterator[str]:
    for row in rest.pop("rows", ()):
        yield "| " + " | ".join(map(_cell, row)) + " |"


def _cell(cell: Json) -> str:
    if set(cell) == {"type", "text"} and cell["type"] == "raw_text" and cell["text"] == cell["text"].strip():
        return str(cell["text"]).replace("|", "\\|").replace("\n", "\\n")
    return _json(cell)


def _chart(rest: Json) -> Iterator[str]:
    chart = dict(rest.pop("chart", {}))
    axes = dict(chart.pop("axis_config", {}))
    series = chart.pop("series", [])
    labels = [[point.get("label") for point in one.get("data", ())] for one in series]
    if labels and all(one == axes.get("categories") for one in labels):
        axes["categories"] = "as labelled"
    yield " ".join([str(chart.pop("type", "?")), *_words(chart), *_words(axes)])
    for one in series:
        named = dict(one)
        points = [_point(point) for point in named.pop("data", ())]
        yield "  " + " ".join(_words(named))
        for start in range(0, len(points), POINTS_A_LINE):
            yield "    " + ", ".join(points[start : start + POINTS_A_LINE])


def _point(point: Json) -> str:
    usual = set(point) == {"label", "value"}
    return f"{_json(point['label'])} {_json(point['value'])}" if usual else _json(point)


BLOCKS: dict[str, Callable[[Json], Iterator[str]]] = {
    "section": _section,
    "actions": _elements,
    "context": _elements,
    "input": _input,
    "table": _table,
    "data_visualization": _chart,
}


def _element(element: Json) -> Iterator[str]:
    if element.get("type") in ("mrkdwn", "plain_text"):
        yield _text(element)
        return
    rest = dict(element)
    kind = rest.pop("type", "?")
    options = rest.pop("options", ())
    chosen = _chosen(rest, options)
    confirm = rest.pop("confirm", None)
    yield " ".join([kind, *_words(rest)])
    for option in options:
        yield ("  * " if option in chosen else "  - ") + _option(option)
    if confirm is not None:
        yield from _indented(["confirm " + " ".join(_words(confirm))])


def _chosen(rest: Json, options: list[Json]) -> list[Json]:
    """The options chosen from the start; taken out of `rest` if all of them are offered, in this order."""
    chosen = rest.get("initial_options") or ([rest["initial_option"]] if rest.get("initial_option") else [])
    if not chosen or chosen != [option for option in options if option in chosen]:
        return []
    rest.pop("initial_options", None)
    rest.pop("initial_option", None)
    return list(chosen)


def _option(option: Json) -> str:
    rest = dict(option)
    value = rest.pop("value", None)
    return " ".join([_json(value), *_words(rest)])


def _words(rest: Json) -> list[str]:
    """What is left of an object, as `key=value`; the text of a button or an option without its key."""
    words = []
    for key, value in rest.items():
        if key in ("optional", "multiline") and value is False:
            continue
        if key == "text" and not isinstance(value, str):
            words.append(_text(value))
        elif isinstance(value, dict) and value.get("type") in ("mrkdwn", "plain_text"):
            words.append(f"{key}={_text(value, quoted=True)}")
        else:
            words.append(f"{key}={_bare(value)}")
    return words


def _text(text: Json, *, quoted: bool = False) -> str:
    """A text object. Lines after the first are set off, so that they cannot be taken for other things."""
    kind, written = text.get("type"), text.get("text")
    usual = {"mrkdwn": {"verbatim": True}, "plain_text": {"emoji": False}}.get(str(kind))
    if {key: value for key, value in text.items() if key not in ("type", "text")} != usual:
        return _json(text)
    if kind == "plain_text":
        return _json(written)
    lines = str(written).split("\n")
    if quoted or not written or any(line != line.strip() for line in lines) or lines[0][0] in '"{':
        return f"mrkdwn {_json(written)}"
    return "\n  ¦ ".join(lines)


def _bare(value: Any) -> str:
    """JSON, without quotes where a word can do without them."""
    simple = isinstance(value, str) and value and not any(one in value for one in ' "=\n\\{}[],')
    return (
        str(value)
        if simple and value not in ("true", "false", "null") and not value[0].isdigit()
        else _json(value)
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _indented(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield "  " + line.replace("\n", "\n  ")


def cell_text(cell: Mapping[str, Any]) -> str:
    """What is read in a cell of a table, whatever it is written as."""
    if "text" in cell:
        return str(cell["text"])
    parts = (element for section in cell["elements"] for element in section["elements"])
    return "".join(str(part["text"]) for part in parts)
