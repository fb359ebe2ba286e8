"""What a process keeps in memory of the audit log: fingerprints of entries, and how far it has read."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from storage.columns import SealedText, json_text
from storage.requests.frozen import Frozen
from storage.sealed_columns import PROGRAM_KEY, REQUEST_BODY
from storage.transaction import ChainMemory, Fingerprints, PasskeysOnRecord
from storage.vault import Sealed

HASHES = [f"{number:02x}" * 32 for number in range(1, 8)]
OTHERS = [f"{number:02x}" * 32 for number in range(101, 108)]


def of(hashes: list[str]) -> bytes:
    """What is kept of each of them, one after another."""
    return b"".join(bytes.fromhex(one)[:16] for one in hashes)


@pytest.mark.parametrize("settled", range(8))
def test_an_entry_is_known_by_its_number_and_fingerprint_whether_settled_or_not(settled: int) -> None:
    found = Fingerprints().and_(of(HASHES[:settled])).settled()
    assert found is not None
    known = found.and_(of(HASHES[settled:]))

    for place, digest in enumerate(HASHES):
        assert known.has(place + 1, digest)
        assert not known.has(place + 2, digest)
        assert not known.has(place + 1, OTHERS[place])
    for seq, digest in (
        (0, HASHES[0]),
        (-1, HASHES[0]),
        (8, HASHES[0]),
        (1, ""),
        (1, "no hex"),
        (1, HASHES[0][:2]),
    ):
        assert not known.has(seq, digest), (seq, digest)


def test_two_readings_of_one_log_share_what_they_learn_and_another_log_is_not_mixed_in() -> None:
    first = Fingerprints()
    one, same, longer, other = (
        first.and_(of(hashes)) for hashes in (HASHES[:3], HASHES[:3], HASHES[:5], OTHERS[:3])
    )
    assert one.settled() is not None
    assert same.settled() is not None
    settled = longer.settled()
    assert settled is not None
    assert all(settled.has(place + 1, digest) for place, digest in enumerate(HASHES[:5]))
    assert other.settled() is None, "another reading found others meanwhile"
    assert other.has(1, OTHERS[0]), "and what it has read by itself stays as it was read"


def test_a_memory_only_ever_goes_on() -> None:
    memory = ChainMemory()
    start = PasskeysOnRecord(seq=3, hash="c", fingerprints=Fingerprints().and_(of(HASHES[:3])))
    memory.learned(start)
    assert (memory.passkeys.seq, memory.known_seq, memory.known_hash) == (3, 3, "c")

    memory.learned(replace(start, seq=2, hash="b"))
    memory.learned(replace(start, hash="x"))
    assert (memory.passkeys.seq, memory.passkeys.hash) == (3, "c")

    unlike = replace(start, seq=9, fingerprints=replace_tail(start.fingerprints))
    memory.learned(unlike)
    assert memory.passkeys.seq == 3, "what another reading found otherwise is not taken over"


def replace_tail(shared: Fingerprints) -> Fingerprints:
    return Fingerprints(shared._shared, 0, bytes.fromhex(OTHERS[0])[:16] * 9)


def test_what_else_the_log_tells_is_kept_as_of_its_furthest_reading() -> None:
    memory = ChainMemory()
    memory.own.extend(cast(Any, SimpleNamespace(seq=seq)) for seq in (4, 5, 6))
    later, earlier = (cast(Any, SimpleNamespace(seq=seq, hash=str(seq))) for seq in (5, 4))

    memory.read_on(later)
    memory.read_on(earlier)

    assert memory.log is later
    assert [entry.seq for entry in memory.own] == [6]
    assert (memory.known_seq, memory.known_hash) == (5, "5")


def test_a_text_that_nobody_sealed_is_refused_by_a_column_for_sealed_ones() -> None:
    column, dialect = SealedText(), cast(Any, None)
    assert column.process_bind_param(None, dialect) is None
    assert column.process_bind_param(Sealed("v1.k.x"), dialect) == "v1.k.x"
    with pytest.raises(TypeError, match="only sealed"):
        column.process_bind_param(cast(Any, "plain"), dialect)
    assert column.process_result_value(None, dialect) is None


def test_a_cell_is_named_with_all_that_it_is_bound_to_or_not_at_all() -> None:
    assert PROGRAM_KEY.ref("main", 2, "https://api.example.com").bound == ("https://api.example.com",)
    for column, bound in ((PROGRAM_KEY, ()), (PROGRAM_KEY, ("a", "b")), (REQUEST_BODY, ("a",))):
        with pytest.raises(ValueError, match="is bound to"):
            column.ref("x", 1, *bound)


@pytest.mark.parametrize("value", [1.5, {1: "x"}, {"a": {"b": 0.1}}, [object()], {"a": {1, 2}}])
def test_what_has_no_exact_form_is_not_stored(value: Any) -> None:
    with pytest.raises(TypeError):
        json_text(value)


def test_a_frozen_request_does_not_show_its_body() -> None:
    frozen = Frozen.__new__(Frozen)
    assert repr(frozen) == "<frozen request>"
