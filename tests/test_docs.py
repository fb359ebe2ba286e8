"""What is documented exists, and what exists is documented."""

import importlib.util
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bot.domain.people.policy import KINDS
from bot.settings import NAMES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def rows(page: str) -> dict[str, str]:
    """First cell -> second cell of every table row whose first cell is code."""
    text = (ROOT / "docs" / page).read_text()
    return dict(re.findall(r"^\| `([^`|]+)` \| (?:`([^`|]*)`)? ?\|", text, re.MULTILINE))


def keys_of(table: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, value in table.items():
        key = f"{path}{name}"
        if isinstance(value, dict):
            yield from keys_of(value, f"{key}.")
        else:
            yield key


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_variable_is_documented_with_its_default() -> None:
    documented = {name: default for name, default in rows("settings.md").items() if name.isupper()}

    assert documented == NAMES


def test_every_key_of_the_example_file_is_documented_and_no_other() -> None:
    example = tomllib.loads((ROOT / "countersign.toml").read_text())
    found = {
        re.sub(r"^policy\.(card_topup|funding_submit)\.", "policy.KIND.", key) for key in keys_of(example)
    }
    # What a table of one kind sets is documented where it is inherited from.
    found = {
        key.replace("KIND", "default") if key.endswith(("approvals", "expires")) else key for key in found
    }

    documented = {key for key in rows("settings.md") if "." in key and not key.isupper()}

    assert documented == found | {"policy.card_freeze.now"}


def test_the_page_of_commands_is_what_the_command_says() -> None:
    assert (ROOT / "docs" / "cli.md").read_text() == generator().cli_page(), "make docs writes it again"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_named_exists(page: Path) -> None:
    headings = re.findall(r"^## countersign (.+)$", generator().cli_page(), re.MULTILINE)
    known = {words for heading in headings for words in (heading, heading.split()[0])}

    text = page.read_text()
    named = re.findall(r"(?:^|`|\()countersign ((?:[a-z-]+)(?: [a-z][a-z-]+)?)", text, re.MULTILINE)
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

    assert set(tables) <= {"default", *KINDS}
