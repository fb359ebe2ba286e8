"""What is installed is listed for others, and no secret lies in the files: what `make sbom` and `make lint` run."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_bill_of_materials_has_every_locked_package_with_its_hashes() -> None:
    lock = (ROOT / "requirements.txt").read_text()

    made = script("sbom").document(lock)

    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.5")
    assert len(made["components"]) == len(re.findall(r"^[A-Za-z0-9].*==", lock, re.MULTILINE)) > 20
    assert sum(len(one["hashes"]) for one in made["components"]) == lock.count("--hash=sha256:")
    assert {one["purl"] for one in made["components"]} >= {
        "pkg:pypi/slack-bolt@" + _version(lock, "slack-bolt")
    }


def _version(lock: str, name: str) -> str:
    found = re.search(rf"^{name}==(\S+)", lock, re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    "parts",
    [
        ("xoxb", "-8402117306251-", "Qm7rT2vWcY9pLk4HsN1eXz8u"),
        ("svc_live", "_", "9sK2mQ7xR4tV1bN8cZ5wY3pL6hJ0"),
        ("whsec", "_", "Zk3Xq8Lr5Tn1Vb7Mc2Ws9Py4Hd6Jf0Ga"),
        ("-----BEGIN ", "PRIVATE", " KEY-----"),
    ],
    ids=["Slack token", "API key", "webhook secret", "private key"],
)
def test_a_planted_secret_is_found_with_its_line(parts: tuple[str, ...]) -> None:
    planted = "".join(parts)

    assert [number for number, _ in script("find_secrets").secrets_in(f"one\nkey = {planted!r}\n")] == [2]
    assert list(script("find_secrets").secrets_in("key = 'xoxb-example-00000000000000000000'")) == []


def test_base_images_are_named_with_their_full_version() -> None:
    named = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    for path in (ROOT / "compose.yaml", ROOT / "deploy" / "compose" / "compose.yaml"):
        named += re.findall(r"image: (\S+:\S+)", path.read_text())

    assert len(named) > 4
    assert all(re.search(r":v?\d+\.\d+(\.\d+$|(\.\d+)?-)", name) for name in named), named
