"""What is sealed opens in its own cell, under its own key, unchanged, and nowhere else."""

import base64
import hashlib
import hmac
import itertools
import os
import random

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from storage.errors import BadKeyring, CannotOpen
from storage.vault import PURPOSES, Keyring, Ref, Sealed, Vault, new_master

A, B = new_master(), new_master()
CELL = Ref("pii", "request", "sealed_private", "R-7K3M")


def vault(*masters: str, instance: str = "ab12cd") -> Vault:
    return Vault(Keyring.parse("\n".join(masters)), instance=instance)


def test_a_sealed_value_opens_in_its_cell_and_shows_nothing_outside() -> None:
    sealed = vault(A).seal(b"+14155550123", CELL)

    assert vault(A).open(sealed, CELL) == b"+14155550123"
    assert sealed.split(".")[:2] == ["v1", vault(A).primary_kid]
    assert b"4155550123" not in base64.urlsafe_b64decode(sealed.split(".")[2] + "==")


def test_the_same_value_is_never_sealed_the_same_way_twice() -> None:
    assert vault(A).seal(b"same", CELL) != vault(A).seal(b"same", CELL)


def test_no_value_opens_in_another_cell() -> None:
    """All pairwise swaps of fifty cells that differ in one thing each."""
    box = vault(A)
    cells = [CELL]
    cells += [Ref("pii", "request", "sealed_private", f"R-{n}") for n in range(40)]
    cells += [Ref(p, "request", "sealed_private", "R-7K3M") for p in ("api_key", "wh_secret", "relay_secret")]
    cells += [Ref("pii", t, "sealed_private", "R-7K3M") for t in ("inbox", "draft", "reques", "")]
    cells += [Ref("pii", "request", "sealed_body", "R-7K3M"), Ref("pii", "request", "", "R-7K3M", 1)]
    cells += [Ref("pii", "request", "sealed_private", "R-7K3M", version) for version in (0, 2, 11)]
    sealed = {cell: box.seal(b"value", cell) for cell in cells}

    for written, read in itertools.permutations(cells, 2):
        with pytest.raises(CannotOpen):
            box.open(sealed[written], read)
    assert all(box.open(text, cell) == b"value" for cell, text in sealed.items())


def test_names_that_run_together_are_other_cells() -> None:
    sealed = vault(A).seal(b"value", Ref("pii", "ab", "c", "d"))

    with pytest.raises(CannotOpen):
        vault(A).open(sealed, Ref("pii", "a", "bc", "d"))


def test_a_value_of_another_installation_does_not_open() -> None:
    sealed = vault(A, instance="staging").seal(b"value", CELL)

    with pytest.raises(CannotOpen):
        vault(A, instance="prod00").open(sealed, CELL)


def test_no_single_bit_can_be_changed() -> None:
    box = vault(A)
    sealed = box.seal(b"fifty dollars", CELL)
    head, _, text = sealed.rpartition(".")
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

    for bit in range(len(raw) * 8):
        flipped = bytearray(raw)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CannotOpen):
            box.open(Sealed(f"{head}.{base64.urlsafe_b64encode(flipped).decode().rstrip('=')}"), CELL)


def test_no_character_of_the_text_can_be_changed_or_cut() -> None:
    box = vault(A)
    sealed = box.seal(b"fifty dollars", CELL)

    for at in range(len(sealed)):
        other = "B" if sealed[at] != "B" else "C"
        for changed in (sealed[:at] + other + sealed[at + 1 :], sealed[:at]):
            with pytest.raises(CannotOpen):
                box.open(Sealed(changed), CELL)


def test_one_value_has_one_text() -> None:
    """Base64 leaves bits over at its end: a text that differs only there decodes to the same bytes."""
    box = vault(A)
    sealed = box.seal(b"fifty dollars", CELL)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    twin = Sealed(sealed[:-1] + letters[letters.index(sealed[-1]) ^ 1])
    decoded = [base64.urlsafe_b64decode(text.rpartition(".")[2] + "==") for text in (sealed, twin)]
    assert decoded[0] == decoded[1]

    with pytest.raises(CannotOpen):
        box.open(twin, CELL)


@pytest.mark.parametrize("text", ["", "v1", "v1.", "v1..", "plain text", "v2.a.b", "v1.x.äö", "v1.x.AAAA\n"])
def test_a_text_of_another_form_does_not_open(text: str) -> None:
    with pytest.raises(CannotOpen):
        vault(A).open(Sealed(text), CELL)


def test_a_key_that_is_not_in_the_keyring_is_named_and_never_tried() -> None:
    sealed = vault(A).seal(b"value", CELL)

    with pytest.raises(CannotOpen, match=vault(A).primary_kid):
        vault(B).open(sealed, CELL)
    assert vault(B, A).open(sealed, CELL) == b"value"
    assert vault(B, A).seal(b"value", CELL).kid == vault(B).primary_kid


def test_a_key_cannot_pass_for_another_by_its_id() -> None:
    sealed = vault(A).seal(b"value", CELL)
    renamed = Sealed(sealed.replace(vault(A).primary_kid, vault(B).primary_kid))

    with pytest.raises(CannotOpen):
        vault(A, B).open(renamed, CELL)


def test_a_mac_holds_for_its_purpose_and_data_only_and_outlives_a_rotation() -> None:
    mac = vault(A).mac("approval_mac", b"terms")

    assert vault(A).check_mac("approval_mac", b"terms", mac)
    assert vault(B, A).check_mac("approval_mac", b"terms", mac)
    assert not vault(A).check_mac("approval_mac", b"other", mac)
    assert not vault(A).check_mac("audit_mac", b"terms", mac)
    assert not vault(B).check_mac("approval_mac", b"terms", mac)
    assert not vault(A).check_mac("approval_mac", b"terms", mac[:-1])
    assert not vault(A).check_mac("approval_mac", b"terms", "")
    assert not vault(A).check_mac("approval_mac", b"terms", mac[:-1] + "é")


def test_a_mac_is_the_hmac_of_the_document_however_many_were_made_before_it() -> None:
    """Worked out with nothing of ours but the master key: what was signed before must still hold."""
    signing, kid = vault(A), vault(A).primary_kid
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"countersign/1/audit_mac")
    key = derived.derive(base64.b64decode(A))

    for data in (b"", b"a" * 64, b"b" * 64, b"a" * 64, b"c" * 1000):
        assert signing.mac("audit_mac", data) == kid + hmac.digest(key, data, "sha256").hex()


# Written out again: a purpose that went, or is called otherwise, would leave what was sealed for it closed for good.
NAMES = (
    *(
        "api_key",
        "slack_token",
        "wh_secret",
        "relay_secret",
        "pii",
        "passkey",
        "passkey_link",
        "passkey_code",
    ),
    *("approval_mac", "request_digest", "audit_mac", "token_hash", "keycheck", "row_mac", "mailbox"),
    *("shared_look", "reading", "attempt"),
)


def test_each_purpose_has_a_key_of_its_own_under_each_master_key_for_good() -> None:
    assert set(NAMES) == PURPOSES
    box, seen = vault(A, B), set()
    for purpose, master in itertools.product(NAMES * 2, (A, B)):
        derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=f"countersign/1/{purpose}".encode())
        key = derived.derive(base64.b64decode(master))
        mac = vault(master).primary_kid + hmac.digest(key, b"data", "sha256").hex()
        assert box.check_mac(purpose, b"data", mac)
        seen.add(mac)
    assert len(seen) == 2 * len(NAMES)


def test_a_value_of_any_length_opens() -> None:
    for length in range(8):
        assert vault(A).open(vault(A).seal(b"x" * length, CELL), CELL) == b"x" * length


def test_a_text_that_names_no_key_is_said_to_name_none() -> None:
    with pytest.raises(CannotOpen, match=r"The master key \(none\) is not in the keyring"):
        vault(A).open(Sealed("v1..AAAA"), CELL)


def test_a_vault_for_an_installation_has_the_same_keys_and_opens_what_is_of_that_one() -> None:
    bound = vault(A, B, instance="").bound_to("ab12cd")

    assert (bound.instance, bound.kids) == ("ab12cd", vault(A, B).kids)
    assert bound.open(vault(A).seal(b"value", CELL), CELL) == b"value"


def test_a_misspelt_purpose_is_our_bug_and_says_so() -> None:
    with pytest.raises(ValueError, match="piii"):
        vault(A).mac("piii", b"")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ("not base64 at all!", "Line 1 of the master keys is not base64"),
        (base64.b64encode(b"short").decode(), "5 bytes"),
        (base64.b64encode(bytes(32)).decode(), "not random"),
        (base64.b64encode(bytes(range(32))).decode(), "not random"),
        (base64.b64encode(bytes(range(64, 0, -2))).decode(), "not random"),
        (base64.b64encode(b"\xaa\x55" * 16).decode(), "not random"),
        (base64.b64encode(b"correct horse battery staple 123").decode(), "not random"),
        pytest.param(f"{A}\n{base64.b64encode(bytes(32)).decode()}", "Line 2", id="second line"),
        pytest.param(f"{A}\n{A}", "twice", id="twice"),
    ],
)
def test_a_keyring_that_is_no_keyring_is_refused_without_showing_it(text: str, why: str) -> None:
    with pytest.raises(BadKeyring, match=why) as caught:
        Keyring.parse(text)

    shown = str(caught.value)
    assert all(line.strip() not in shown for line in text.splitlines() if line.strip())


def test_random_keys_are_never_taken_for_guessable_ones() -> None:
    drawn = random.Random(11)
    for _ in range(2_000):
        Keyring.parse(new_master(drawn.randbytes))


def test_a_master_key_does_not_show_itself() -> None:
    ring = Keyring.parse(A)

    raw = base64.b64decode(A)
    assert A not in repr(ring)
    assert repr(raw)[2:10] not in repr(ring)
    assert raw.hex() not in repr(ring)
    assert ring.kids[0] in repr(ring)


def test_two_thousand_random_changes_are_all_noticed() -> None:
    box, drawn = vault(A), random.Random(3)
    sealed = box.seal(os.urandom(40), CELL)
    raw = sealed.encode()
    for _ in range(2_000):
        changed = bytearray(raw)
        for _ in range(drawn.randint(1, 4)):
            changed[drawn.randrange(len(changed))] = drawn.choice(b"ABCabc012-_.~")
        if bytes(changed) == raw:
            continue
        with pytest.raises(CannotOpen):
            box.open(Sealed(changed.decode()), CELL)


# What was sealed and signed by earlier versions has to open for good: these texts are of such a version.
KNOWN_KEY = base64.b64encode(hashlib.sha256(b"a key that everybody knows").digest()).decode()
KNOWN = Vault(Keyring.parse(KNOWN_KEY), instance="ab12cd", random=lambda count: bytes(range(count)))
KNOWN_KID = "a091c0402117"
KNOWN_SEALED = "v1.a091c0402117.AAECAwQFBgcICQoLqkS1lcLSF1lDzAWOb726mOYFFQsZQlXJ-RLZOA"
KNOWN_MAC = "a091c0402117f23e5b07d7316e9bc4beb7845fbab30e8a13314b2d4aeeab61ceb630dbadf50f"
KNOWN_DERIVED = "2d4faa7a065a3057c155b0c8c94fd10a25a8748b3b0706394a1fd67ef7b5a01b"


def test_what_an_earlier_version_sealed_signed_and_derived_is_the_same_today() -> None:
    cell = Ref("pii", "request", "sealed_private", "R-7K3M", 3, ("x", "y"))

    assert KNOWN.primary_kid == KNOWN_KID
    assert KNOWN.seal(b"+14155550123", cell) == KNOWN_SEALED
    assert KNOWN.open(Sealed(KNOWN_SEALED), cell) == b"+14155550123"
    assert KNOWN.mac("approval_mac", b"data") == KNOWN_MAC
    assert [one.hex() for one in KNOWN.derived("relay_secret", "https://example.com")] == [KNOWN_DERIVED]


def test_a_retired_key_proves_what_was_and_does_nothing_else() -> None:
    box = vault(A, B)
    old = box.kids[1]
    sealed, mac = box.seal_under(old, b"value", CELL), vault(B).mac("approval_mac", b"data")
    assert len(box.derived("relay_secret", "name")) == 2
    box.retired[old] = 7

    with pytest.raises(CannotOpen, match="retired"):
        box.open(sealed, CELL)
    assert box.check_mac("approval_mac", b"data", mac) is False
    assert box.check_mac("approval_mac", b"data", mac, as_proof=True) is True
    assert box.check_mac("approval_mac", b"other", mac, as_proof=True) is False
    assert box.check_mac("approval_mac", b"data", box.mac("approval_mac", b"data")) is True
    assert box.derived("relay_secret", "name") == vault(A).derived("relay_secret", "name")


def _line(material: bytes) -> str:
    return base64.b64encode(material).decode()


@pytest.mark.parametrize(
    ("material", "is_taken"),
    [
        (bytes(range(32, 64)), False),  # each one more than the one before
        (bytes((11 * n) % 256 for n in range(32)), False),  # the same step over the end of a byte
        (
            bytes([32, 126]) + bytes(range(33, 63)),
            False,
        ),  # all of it can be typed, first and last sign included
        (bytes([31]) + bytes(random.Random(5).sample(range(32, 127), 31)), True),
        (bytes([127]) + bytes(random.Random(5).sample(range(32, 127), 31)), True),
        (bytes([*range(200, 216), *range(200, 216)]), False),  # sixteen bytes, twice
        (bytes([*range(200, 217), *range(200, 215)]), True),  # seventeen are enough
    ],
)
def test_what_could_be_guessed_is_no_master_key(material: bytes, *, is_taken: bool) -> None:
    assert len(material) == 32
    if is_taken:
        assert Keyring.parse(_line(material)).keys[0].material == material
        return
    with pytest.raises(BadKeyring, match="not random"):
        Keyring.parse(_line(material))


def test_lines_of_a_keyring_are_read_strictly_and_in_order() -> None:
    ring = Keyring.parse(f"\n  {A}  \n\n{B}\n")
    assert ring.kids == (vault(A).primary_kid, vault(B).primary_kid)
    assert ring.find(ring.kids[1]) == ring.keys[1]
    assert ring.find("nobody") is None
    assert repr(ring.keys[0]) == f"<master key {ring.kids[0]}>"
    for bad in (f"{A[:-4]}!{A[-4:]}", f"-{A[1:]}"):
        with pytest.raises(BadKeyring, match="Line 2 of the master keys is not base64"):
            Keyring.parse(f"{B}\n{bad}")
    assert len(base64.b64decode(new_master())) == 32
