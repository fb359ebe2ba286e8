#!/usr/bin/env python3
"""Check an exported audit chain without Countersign: `python verify_audit.py audit.jsonl [anchors]`.

It needs this file, Python 3.11 and what `countersign audit export --output audit.jsonl` wrote; nothing else.

It checks that the entries are numbered without a gap, that each follows the one before, that each has the fingerprint
of its own content, and that the file is the one of its manifest (`audit.jsonl.manifest.json`, where there is one).
With a file of anchors, one JSON object a line, each of them has to be an entry of the chain. Signatures under the
master key (`mac`) are not checked: that takes the key, and `countersign audit verify`.

Exits 0 when it is whole, 1 when it is broken, 2 when it cannot be read.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_DOMAIN = b"countersign-audit-v1"
_COVERED = ("at", "actor", "action", "subject", "outcome", "reason_code", "body", "policy_version")


class Broken(Exception):
    """The chain or the file is not what it should be; the text says where."""


def _say(text: object) -> None:
    sys.stdout.write(f"{text}\n")


def fingerprint(entry: dict[str, Any]) -> str:
    """SHA-256 over the number and the texts of an entry, each with its length, and the hash before it."""
    parts = [b"%d" % entry["seq"], *(str(entry[name]).encode() for name in _COVERED)]
    covered = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hashlib.sha256(_DOMAIN + covered + str(entry["prev"]).encode()).hexdigest()


def check_chain(lines: Iterable[str]) -> dict[int, str]:
    """The hash of each entry by its number. Raises Broken for the first fault."""
    hashes: dict[int, str] = {}
    expected, before = 1, ""
    for line in lines:
        entry = json.loads(line)
        if entry["seq"] != expected:
            raise Broken(f"entry {expected} is missing: the next one is {entry['seq']}")
        if entry["prev"] != before:
            raise Broken(f"entry {expected} does not follow the one before it")
        if fingerprint(entry) != entry["hash"]:
            raise Broken(f"entry {expected} was changed")
        hashes[expected] = before = entry["hash"]
        expected += 1
    if not hashes:
        raise Broken("there is no entry in it")
    return hashes


def check_manifest(path: Path, count: int, head_hash: str) -> None:
    """Raises Broken where the file is not the one that its manifest tells of."""
    beside = path.with_name(path.name + ".manifest.json")
    if not beside.exists():
        _say(f"There is no {beside.name}, so the file itself is not compared.")
        return
    manifest = json.loads(beside.read_text())
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if (manifest["count"], manifest["head_hash"], manifest["sha256"]) != (count, head_hash, found):
        raise Broken(f"the file is not the one of {beside.name}")


def check_anchors(lines: Iterable[str], hashes: dict[int, str]) -> int:
    """How many anchors there are. Raises Broken for one that is no entry of this chain."""
    count = 0
    for line in filter(str.strip, lines):
        anchor = json.loads(line)
        if hashes.get(anchor["seq"]) != anchor["hash"]:
            raise Broken(f"the anchor of entry {anchor['seq']} is of another chain, or the end was cut off")
        count += 1
    return count


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        yield from filter(str.strip, file)


def main(arguments: list[str]) -> int:
    if not 1 <= len(arguments) <= 2:
        _say(__doc__)
        return 2
    path = Path(arguments[0])
    try:
        hashes = check_chain(_lines(path))
        check_manifest(path, len(hashes), hashes[len(hashes)])
        anchors = check_anchors(_lines(Path(arguments[1])), hashes) if len(arguments) == 2 else 0
    except Broken as fault:
        _say(f"Broken: {fault}.")
        return 1
    except (OSError, ValueError, KeyError, TypeError) as error:
        _say(f"It cannot be read as an export: {error}")
        return 2
    more = f", and {anchors} anchor(s) fit it" if anchors else ""
    _say(
        f"Whole: {len(hashes):,} entries, each follows the one before and has its own content's fingerprint{more}."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
