"""What docs/security.md says of each threat is shown by a test that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_ROW = re.compile(r"^\| (T\d+) \| (.+) \| (.+) \| (.+) \| `([^`]+)::([^`]+)` \|$", re.MULTILINE)
THREATS = _ROW.findall((ROOT / "docs" / "security.md").read_text())


def test_every_threat_of_the_model_has_its_row() -> None:
    numbers = [int(number[1:]) for number, *_ in THREATS]

    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 42


@pytest.mark.parametrize(
    ("number", "tries", "stops", "left", "file", "test"), THREATS, ids=[number for number, *_ in THREATS]
)
def test_the_test_that_shows_it_is_there(
    number: str, tries: str, stops: str, left: str, file: str, test: str
) -> None:
    found = (ROOT / "tests" / file).read_text()

    assert re.search(rf"^(async )?def {re.escape(test)}\(", found, re.MULTILINE), f"{number}: {file}::{test}"
    assert "none" not in {tries.lower(), stops.lower(), left.lower()}


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_dependency_is_locked_with_its_hash(name: str) -> None:
    lines = (ROOT / name).read_text().replace("\\\n", " ").splitlines()
    named = [line for line in lines if line.strip() and not line.strip().startswith(("#", "-"))]

    assert named
    assert [line[:60] for line in named if "==" not in line or "--hash=sha256:" not in line] == []
