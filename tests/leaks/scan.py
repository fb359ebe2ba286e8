"""A byte search for secrets, in every form in which they could lie about: raw, base64, hex, URL, JSON, UTF-16."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True)
class Hit:
    """What was found, in which form, where."""

    name: str
    form: str
    where: str

    def __str__(self) -> str:
        return f"{self.name} as {self.form} in {self.where}"


def forms(value: str) -> dict[str, set[bytes]]:
    """Form -> the bytes to look for. What is as it is in several forms is looked for once."""
    raw = value.encode()
    found = {
        "raw": {raw, value.upper().encode(), value.lower().encode()},
        "base64": set(_base64(raw)),
        "hex": {raw.hex().encode(), raw.hex().upper().encode()},
        "url": {quote(value, safe="").encode(), "".join(f"%{byte:02X}" for byte in raw).encode()},
        "json": {json.dumps(value)[1:-1].encode(), "".join(f"\\u{ord(c):04x}" for c in value).encode()},
        "utf-16": {value.encode("utf-16-le"), value.encode("utf-16-be")},
    }
    seen: set[bytes] = set()
    for needles in found.values():
        needles -= seen
        seen |= needles
    return {form: needles for form, needles in found.items() if needles}


def _base64(raw: bytes) -> Iterator[bytes]:
    """The characters that `raw` alone decides, at each of the three places in a group, in both alphabets."""
    for offset in range(3):
        padded = b"\0" * offset + raw
        first = -(-offset * 8 // 6)
        last = len(padded) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(padded)[first:last]


def scan(canaries: Mapping[str, str], places: Iterable[tuple[str, bytes]]) -> list[Hit]:
    """Every canary in every place. `places` are names and contents."""
    wanted = {name: forms(value) for name, value in canaries.items()}
    return [
        Hit(name, form, where)
        for where, content in places
        for name, needles_of in wanted.items()
        for form, needles in needles_of.items()
        if any(needle in content for needle in needles)
    ]
