"""What is documented exists, and what exists is documented."""

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from bot import operations
from bot.config import Config, ConfigError, Settings, reference
from tests.support.docs_scripts import docs_script

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def rows(page: str) -> dict[str, tuple[str, str]]:
    """First cell -> second and third cell of every table row whose first cell is code."""
    text = (ROOT / "docs" / page).read_text()
    found = re.findall(r"^\| `([^`|]+)` \| (?:`([^`|]*)`)? ?\| (.*) \|$", text, re.MULTILINE)
    return {name: (default, meaning) for name, default, meaning in found}


def keys_of(table: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, value in table.items():
        key = f"{path}{name}"
        if isinstance(value, dict):
            yield from keys_of(value, f"{key}.")
        else:
            yield key


def test_every_variable_is_documented_with_its_default() -> None:
    documented = {name: default for name, (default, _) in rows("settings.md").items() if name.isupper()}

    settings = Settings.from_env({})
    assert documented.keys() == {field.alias for field in Settings.model_fields.values()}
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        assert documented[str(field.alias)] == ("" if value is None else str(value)), name


def test_every_setting_of_the_file_is_documented_with_its_meaning() -> None:
    documented = {name: said for name, said in rows("settings.md").items() if "." in name}

    assert documented.keys() == set(reference.setting_names())
    assert all(len(meaning) > 9 and meaning[0].isupper() for _, meaning in documented.values())


def test_every_default_of_the_page_is_one_that_the_file_may_have() -> None:
    """A file that writes out each documented default means the same as one that is silent."""
    needed = '[slack]\napprovals_channel = "#a"\nalerts_channel = "#b"\n[people]\napprovers = ["@c"]\n'
    lines = [
        f"{name} = {default}"
        for name, (default, _) in rows("settings.md").items()
        if default and "." in name and "[]" not in name
    ]
    dotted = "".join(f"{line}\n" for line in lines if not line.startswith(("slack.", "people.")))
    inside = {
        table: "".join(
            line.removeprefix(f"{table}.") + "\n" for line in lines if line.startswith(f"{table}.")
        )
        for table in ("slack", "people")
    }
    written = dotted + needed.replace("[people]\n", f"{inside['slack']}[people]\n{inside['people']}")

    said, silent = Config.parse(written.encode()), Config.parse(needed.encode())

    policy = replace(said.policy, version="", kinds={})
    assert said.policy.of("card_freeze") == silent.policy.of("card_freeze")
    assert replace(said, digest="", policy=policy) == replace(
        silent, digest="", policy=replace(silent.policy, version="")
    )


def test_the_example_file_shows_every_setting_and_no_other() -> None:
    example = set(keys_of(tomllib.loads((ROOT / "countersign.toml").read_text())))
    kinds = "|".join(operations.kinds())
    settings = {name for name in reference.setting_names() if "[]" not in name and name != "policy.KIND"}
    own = {name for name in settings if re.match(rf"policy\.({kinds})\.", name)}

    # What a table of one kind sets is documented where it is inherited from.
    shown = {
        name if name in own else re.sub(rf"^policy\.({kinds})\.", "policy.default.", name) for name in example
    }

    assert shown == settings


def test_the_schema_for_editors_is_what_the_models_say() -> None:
    assert (ROOT / "docs" / "countersign.schema.json").read_text() == reference.json_schema(), "make docs"
    first_line = (ROOT / "countersign.toml").read_text().splitlines()[0]
    assert first_line == "#:schema docs/countersign.schema.json"


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        (("", ""), ""),
        (("alerts_channel", "alerts_chanel"), "alerts_chanel"),
        (('"#card-alerts"', '"card-alerts"'), "card-alerts"),
        (("[policy.card_topup]", "[policy.card_top_up]"), "card_top_up"),
        (("[policy.card_topup]", "[policy.card_topup]\nnow = true"), "now"),
        (("approvals = 1 ", "approvals = 0 "), "minimum"),
        (("approvals = 1 ", 'approvals = "1" '), "integer"),
        (('account = "60s"', 'account = "60"'), "60"),
        (('total_usd = "20000"', "total_usd = 20000"), "20000"),
        (('approvers = ["@card-approvers"]', ""), "approvers"),
    ],
)  # fmt: skip
def test_an_editor_and_the_bot_agree_about_a_file(change: tuple[str, str], refused: str) -> None:
    text = (ROOT / "countersign.toml").read_text().replace(*change)
    schema = json.loads((ROOT / "docs" / "countersign.schema.json").read_text())

    errors = [error.message for error in Draft202012Validator(schema).iter_errors(tomllib.loads(text))]

    assert bool(errors) == bool(refused)
    assert refused in " ".join(errors)
    if refused:
        with pytest.raises(ConfigError):
            Config.parse(text.encode())


def test_the_page_of_commands_is_what_the_command_says() -> None:
    assert (ROOT / "docs" / "cli.md").read_text() == docs_script("generate").cli_page(), (
        "make docs writes it again"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_named_exists(page: Path) -> None:
    headings = re.findall(r"^## countersign (.+)$", docs_script("generate").cli_page(), re.MULTILINE)
    known = {words for heading in headings for words in (heading, heading.split()[0])}

    text = page.read_text()
    named = re.findall(r"(?:^|`|\()countersign ((?:[a-z][a-z-]*)(?: [a-z][a-z-]+)?)", text, re.MULTILINE)
    for words in named:
        assert words in known or words.split()[0] in known, f"countersign {words}"
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE):
        assert target in targets, f"make {target}"


def test_the_drawing_of_the_layers_is_the_contract() -> None:
    drawn = re.search(r"<!-- layers -->\n```\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert drawn is not None
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]

    layers = [re.sub(r"[()]", "", layer) for layer in contracts[0]["layers"]]

    assert drawn[1].splitlines() == layers


def test_the_example_policy_names_only_kinds_there_are() -> None:
    tables = tomllib.loads((ROOT / "countersign.toml").read_text())["policy"]

    assert set(tables) <= {"default", *operations.kinds()}
