"""Sealing: what is secret or personal is written only through here, bound to the cell it is written in.

AES-256-GCM under a subkey per purpose, derived from a master key that is kept outside the database.
The key is found by the id written in the sealed text, never by trial. The cell (purpose, table,
column, row, version and this installation) is bound as additional data, so a sealed text copied to
another row, or an old one put back after its version moved on, does not open.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from storage.errors import BadKeyring, CannotOpen

PURPOSES = frozenset(
    {
        "api_key",
        "slack_token",
        "wh_secret",
        "relay_secret",
        "pii",
        "passkey",
        "passkey_link",
        "passkey_code",
        "approval_mac",
        "attempt",
        "request_digest",
        "audit_mac",
        "token_hash",
        "keycheck",
        "row_mac",
        "mailbox",
        "shared_look",
        "reading",
    }
)
_KEY_BYTES = 32
_NONCE_BYTES = 12  # 96 bits, drawn at random: far below the bound of 2^32 messages per key
_KID_LENGTH = 12
_FORMAT = "v1"

RandomBytes = Callable[[int], bytes]


def length_prefixed(*parts: bytes) -> bytes:
    """The parts joined so that no two different lists give the same bytes."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


class Sealed(str):
    """`v1.<kid>.<base64url of nonce, ciphertext, tag>`. Only a vault makes one."""

    __slots__ = ()

    @property
    def kid(self) -> str:
        """The id of the master key this was sealed under; empty when the text has another form."""
        form, _, rest = self.partition(".")
        return rest.partition(".")[0] if form == _FORMAT else ""


@dataclass(frozen=True, slots=True)
class Ref:
    """The cell a value is sealed for. `version` moves on when the cell's content is replaced.

    `bound`: values of other columns of the row without which the sealed one is not to be used.
    """

    purpose: str
    table: str
    column: str
    row_id: str
    version: int = 1
    bound: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class MasterKey:
    """One 256-bit key. Its id is derived from it, so an id cannot be claimed for another key."""

    material: bytes

    @property
    def kid(self) -> str:
        return hmac.new(self.material, b"countersign-kid", hashlib.sha256).hexdigest()[:_KID_LENGTH]

    def __repr__(self) -> str:
        return f"<master key {self.kid}>"


@dataclass(frozen=True, slots=True)
class Keyring:
    """The master keys this process was given; the first seals, all open."""

    keys: tuple[MasterKey, ...]

    @classmethod
    def parse(cls, text: str) -> Keyring:
        """One base64 of 32 bytes a line, the primary first. Raises `BadKeyring`, which shows no key."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if not lines:
            raise BadKeyring("The master key is empty. `countersign keys new-master` prints a new one.")
        keys = tuple(_master_key(line, number) for number, line in enumerate(lines, start=1))
        if len({key.kid for key in keys}) < len(keys):
            raise BadKeyring("The keyring holds the same master key twice. Give each key one line.")
        return cls(keys)

    @property
    def kids(self) -> tuple[str, ...]:
        return tuple(key.kid for key in self.keys)

    def find(self, kid: str) -> MasterKey | None:
        return next((key for key in self.keys if key.kid == kid), None)


def new_master(random: RandomBytes = os.urandom) -> str:
    """A fresh master key as a line of a keyring."""
    return base64.b64encode(random(_KEY_BYTES)).decode()


def _master_key(line: str, number: int) -> MasterKey:
    fix = "`countersign keys new-master` prints one."
    try:
        material = base64.b64decode(line, validate=True)
    except binascii.Error:
        raise BadKeyring(f"Line {number} of the master keys is not base64. {fix}") from None
    if len(material) != _KEY_BYTES:
        raise BadKeyring(f"Line {number} of the master keys holds {len(material)} bytes, not 32. {fix}")
    if _is_guessable(material):
        raise BadKeyring(f"Line {number} of the master keys is not random, so it could be guessed. {fix}")
    return MasterKey(material)


def _is_guessable(material: bytes) -> bool:
    """Passphrases, repeated and counted bytes. A random key fails here about once in 10^14."""
    steps = {(b - a) % 256 for a, b in itertools.pairwise(material)}
    printable = all(32 <= byte < 127 for byte in material)
    return printable or len(set(material)) < 17 or len(steps) == 1


class Vault:
    """Seals, opens and MACs under the keyring. `instance` is bound into every sealed value.

    `retired`: keys that the database has given up, each with the number of the audit entry that says so. They prove
    what was signed before, and nothing else: they open nothing, and no decision or row counts by them.
    """

    def __init__(self, keyring: Keyring, *, instance: str = "", random: RandomBytes = os.urandom) -> None:
        self._keyring = keyring
        self.instance = instance
        self._random = random
        # Worked out once: each is an HMAC, and a MAC is checked for every link of the audit chain.
        self.kids = keyring.kids
        self.primary_kid = self.kids[0]
        self.retired: dict[str, int] = {}
        self._subkeys: dict[tuple[str, str], bytes] = {}
        # Keyed once and copied for each MAC: setting up the key takes most of the time of a short text's.
        self._keyed: dict[tuple[str, str], hmac.HMAC] = {}

    def bound_to(self, instance: str) -> Vault:
        """The same keys for the installation named `instance`; `Store.open` does this."""
        return Vault(self._keyring, instance=instance, random=self._random)

    def seal(self, value: bytes, ref: Ref) -> Sealed:
        return self.seal_under(self.primary_kid, value, ref)

    def seal_under(self, kid: str, value: bytes, ref: Ref) -> Sealed:
        """As `seal`, under another key of the keyring than the primary: for what tells whether that key fits."""
        nonce = self._random(_NONCE_BYTES)
        box = nonce + AESGCM(self._subkey(kid, ref.purpose)).encrypt(nonce, value, self._context(kid, ref))
        return Sealed(f"{_FORMAT}.{kid}.{_encoded(box)}")

    def open(self, sealed: Sealed, ref: Ref) -> bytes:
        """The value sealed for exactly this cell; raises `CannotOpen` for anything else."""
        kid = sealed.kid
        if kid in self.retired:
            raise CannotOpen(
                f"A sealed value ({ref.table}.{ref.column} of {ref.row_id}) is under the master key {kid}, which was"
                " retired, so it is not used."
            )
        text = sealed[len(_FORMAT) + 1 + len(kid) + 1 :]
        try:
            box = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            cipher = AESGCM(self._subkey(kid, ref.purpose))
            opened = cipher.decrypt(box[:_NONCE_BYTES], box[_NONCE_BYTES:], self._context(kid, ref))
        except (binascii.Error, ValueError, InvalidTag):
            raise CannotOpen(
                f"A sealed value ({ref.table}.{ref.column} of {ref.row_id}) does not open: it was changed or"
                " moved outside Countersign, so it is not used."
            ) from None
        if _encoded(box) != text:  # base64 has spare bits: one value, one text
            raise CannotOpen(f"A sealed value ({ref.table}.{ref.column} of {ref.row_id}) was changed.")
        return opened

    def mac(self, purpose: str, data: bytes) -> str:
        """Hex of the primary key's id (12 digits) and of an HMAC-SHA256 under its subkey for the purpose."""
        return self._mac(self.primary_kid, purpose, data)

    def signed_under(self, mac: str) -> str:
        """The id of the master key a MAC says it was made under."""
        return mac[:_KID_LENGTH]

    def check_mac(self, purpose: str, data: bytes, mac: str, *, as_proof: bool = False) -> bool:
        """Is `mac` ours for `data`, under whichever key of the keyring it names? Constant time.

        `as_proof`: of what was done once; then a retired key counts, too.
        """
        kid = self.signed_under(mac)
        if kid not in self.kids or (kid in self.retired and not as_proof):
            return False
        return hmac.compare_digest(self._mac(kid, purpose, data).encode(), mac.encode())

    def derived(self, purpose: str, name: str) -> tuple[bytes, ...]:
        """A secret of this installation for `name`, by each master key: the primary's first.

        Never stored. It goes with the master key it comes from, so while two are in the keyring there are
        two, and whoever verifies may know either.
        """
        data = length_prefixed(self.instance.encode(), name.encode())
        kids = [kid for kid in self.kids if kid not in self.retired]
        return tuple(hmac.digest(self._subkey(kid, purpose), data, "sha256") for kid in kids)

    def _mac(self, kid: str, purpose: str, data: bytes) -> str:
        keyed = self._keyed.get((kid, purpose))
        if keyed is None:
            keyed = self._keyed[kid, purpose] = hmac.new(self._subkey(kid, purpose), digestmod="sha256")
        mac = keyed.copy()
        mac.update(data)
        return kid + mac.hexdigest()

    def _subkey(self, kid: str, purpose: str) -> bytes:
        if purpose not in PURPOSES:
            raise ValueError(f"unknown purpose {purpose!r}")
        found = self._subkeys.get((kid, purpose))
        if found is not None:
            return found
        master = self._keyring.find(kid)
        if master is None:
            raise CannotOpen(f"The master key {kid or '(none)'} is not in the keyring. Add it and try again.")
        info = f"countersign/1/{purpose}".encode()
        subkey = HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=info).derive(master.material)
        self._subkeys[kid, purpose] = subkey
        return subkey

    def _context(self, kid: str, ref: Ref) -> bytes:
        cell = (ref.purpose, ref.table, ref.column, ref.row_id, str(ref.version), *ref.bound)
        parts = ("countersign", _FORMAT, kid, self.instance, *cell)
        return length_prefixed(*(part.encode() for part in parts))


def _encoded(box: bytes) -> str:
    return base64.urlsafe_b64encode(box).decode().rstrip("=")
