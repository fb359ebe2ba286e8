"""Writes the reference of all settings from their models: two tables for docs/settings.md and a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from bot.config.environment import Settings
from bot.config.file import document
from bot.config.forms import write
from bot.config.policy import Policies, Rule
from bot.config.problems import fields_of, models_in


def environment_table() -> str:
    """A row for each variable: name, default, meaning."""
    return _table((name, _shown(field), field.description) for name, field in fields_of(Settings).items())


def file_table() -> str:
    """A row for each setting of the file: name, default, meaning."""
    return _table(_rows(document(), ""))


def setting_names() -> set[str]:
    """Every setting of the file; `policy.KIND` stands for the table of any operation kind."""
    return {name for name, _, _ in _rows(document(), "")}


def json_schema() -> str:
    """A JSON Schema of the file, for editors."""
    made = document().model_json_schema(schema_generator=_Schema)
    return (
        json.dumps({"$schema": _Schema.schema_dialect, **made, "title": "countersign.toml"}, indent=2) + "\n"
    )


class _Schema(GenerateJsonSchema):
    """Defaults as the file has them, and no titles but the tables'."""

    def encode_default(self, dft: Any) -> Any:
        return super().encode_default(write(dft))

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


_Row = tuple[str, str, str | None]


def _table(rows: Iterator[_Row]) -> str:
    lines = [
        f"| `{name}` | {f'`{default}`' if default else ''} | {meaning} |" for name, default, meaning in rows
    ]
    return "\n".join(["| name | default | meaning |", "|---|---|---|", *lines])


def _rows(model: type[BaseModel], path: str) -> Iterator[_Row]:
    for name, field in fields_of(model).items():
        tables = list(models_in(field.annotation))
        is_list = tables != [field.annotation]
        if is_list:
            yield path + name, _written(field), field.description
        for table in tables:
            rows = _rows(table, f"{path}{name}[]." if is_list else f"{path}{name}.")
            is_kind = issubclass(model, Policies) and name != "default"
            yield from (row for row in rows if not is_kind or _is_own(row))
    if issubclass(model, Policies):
        meaning = "A table for one operation kind, such as `policy.card_topup`, with the settings of `policy.default`."
        yield f"{path}KIND", "", f"{meaning} What it does not set comes from there"


def _is_own(row: _Row) -> bool:
    """A setting of a kind's table that `policy.default` has not."""
    _policy, _kind, setting, *_ = row[0].split(".")
    return setting.removesuffix("[]") not in Rule.model_fields


def _written(field: FieldInfo) -> str:
    """The default as the file has it; empty for a setting that must be there."""
    if field.is_required():
        return ""
    return json.dumps(write(field.get_default(call_default_factory=True)))


def _shown(field: FieldInfo) -> str:
    return "" if field.default is None else str(field.default)
