"""The scan finds what is planted; without that, its silence says nothing."""

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.leaks.scan import scan

SECRET = "zephyr.quillon77@canary.example"
PLANTS: dict[str, Callable[[str], bytes]] = {
    "as it is": lambda text: text.encode(),
    "in capitals": lambda text: text.upper().encode(),
    "base64, first place": lambda text: base64.b64encode(text.encode()),
    "base64, second place": lambda text: base64.b64encode(b"x" + text.encode() + b"yz"),
    "base64, third place": lambda text: base64.b64encode(b"xx" + text.encode() + b"y"),
    "base64 for addresses": lambda text: base64.urlsafe_b64encode(f"k={text}&".encode()),
    "hex": lambda text: text.encode().hex().encode(),
    "URL": lambda text: quote(text, safe="").encode(),
    "JSON": lambda text: json.dumps({"a": text}).encode(),
    "JSON, all escaped": lambda text: "".join(f"\\u{ord(c):04x}" for c in text).encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
}


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_a_planted_secret_is_found(plant: Callable[[str], bytes]) -> None:
    content = b"\x00\x01 before " + plant(SECRET) + b" after"

    hits = scan({"email": SECRET}, [("the place", content)])

    assert {(hit.name, hit.where) for hit in hits} == {("email", "the place")}


def test_what_is_not_there_is_not_found() -> None:
    content = base64.b64encode(b"zephyr.quillon78@canary.example") + b" zephyr@canary.example"

    assert scan({"email": SECRET}, [("the place", content)]) == []
