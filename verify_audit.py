#!/usr/bin/env python3
"""Check an exported audit chain without Countersign: `python verify_audit.py audit.jsonl [anchors]`.

It needs this file, Python 3.11 and what `countersign audit export --output audit.jsonl` wrote; and for signatures with
passkeys the package `cryptography` (`pip install cryptography`). Without it these are not checked, which it then says.

It checks that the entries are numbered without a gap, that each follows the one before, that each has the fingerprint
of its own content, and that the file is the one of its manifest (`audit.jsonl.manifest.json`, where there is one).
With a file of anchors, one JSON object a line, each of them has to be an entry of the chain. Signatures under the
master key (`mac`) are not checked: that takes the key, and `countersign audit verify`.

Of each decision with a passkey it checks that the person's own passkey signed exactly this: the same purpose, request,
version and fingerprint; on Countersign's page, after a fingerprint, a face or a PIN; once; and while the passkey
counted, which others had confirmed. Each request has to keep the fingerprint it was submitted with, and a row of a
list counts as approved with the list alone. What an entry says of the calls before it is what their own entries say,
and one that is about no call leaves that as it was. Nothing counts as sent or done that has fewer approvals than it was
requested with, or that its requester approved; a freeze alone is done immediately. Nothing is sent after it had ended,
such as by a person who rejected or stopped it. Where people said how a request ended, and where they resumed sending
after a pause, two of them did. `--passkeys` lists every decision, and whether it was given with one.

What an export cannot prove, it says, and names the entry to ask about. Whoever has the machine can make up a whole
log with passkeys of their own, and leave out what the policy asked for. So compare the fingerprints of the passkeys
that are printed with what their people read out to you, and the log with anchors that were kept elsewhere. Ask people
about resets of passkeys, new master keys, and older copies of the database that were put in place.

Exits 0 when it is whole, 1 when it is broken, 2 when it cannot be read.
"""

import base64
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_DOMAIN = b"countersign-audit-v1"
_COVERED = ("at", "actor", "action", "subject", "outcome", "reason_code", "body", "policy_version")


class Broken(Exception):
    """The chain or the file is not what it should be; the text says where."""


def _say(text: str) -> None:
    """One line. What somebody wrote into an export neither begins a line, nor moves the cursor, nor hides ours."""
    shown = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
    sys.stdout.write(f"{shown}\n")


def fingerprint(entry: dict[str, Any]) -> str:
    """SHA-256 over the number and the texts of an entry, each with its length, and the hash before it."""
    parts = [b"%d" % entry["seq"], *(str(entry[name]).encode() for name in _COVERED)]
    covered = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hashlib.sha256(_DOMAIN + covered + str(entry["prev"]).encode()).hexdigest()


def check_chain(lines: Iterable[str], see: Callable[[dict[str, Any]], None]) -> dict[int, str]:
    """The hash of each entry by its number; each is passed to `see`. Raises Broken for the first fault."""
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
        see(entry)
        hashes[expected] = before = entry["hash"]
        expected += 1
    if not hashes:
        raise Broken("there is no entry in it")
    return hashes


# What a decision with a passkey is for, by the action of its entry.
_PURPOSES = {
    "request.approval": "approve",
    "request.confirmed": "confirm",
    "request.resolution_proposed": "resolve",
    "request.resolved_by_hand": "resolve",
    "consent.given": "consent",
    "passkey.made": "add",
}
#: The kinds that a person may do immediately, and a second one confirms afterwards.
IMMEDIATE = ("card_freeze",)
#: What a request is in only after it was approved.
_GRANTED = ("approved", "executing", "succeeded", "failed", "unresolved")
PENDING = "pending"
#: The states of a request, and those that may follow each.
_MOVES: Mapping[str, tuple[str, ...]] = {
    PENDING: ("approved", "rejected", "cancelled", "expired"),
    "approved": ("executing", "cancelled", "expired"),
    "executing": ("succeeded", "failed", "unresolved"),
    "unresolved": ("succeeded", "failed"),
    "failed": ("succeeded", "unresolved"),
    "succeeded": (),
    "rejected": (),
    "cancelled": (),
    "expired": (),
}
_STOPPED = ("rejected", "cancelled", "expired")
_OPEN = ("pending", "approved", "executing", "unresolved")
#: None of these is about a call: what the request says of its calls is as before.
_KEEPS_CALLS = frozenset(
    {
        *("request.approval", "request.break_glass", "request.rows_left_out", "request.resolution_proposed"),
        *("request.resolved_by_hand", "request.rejected_before_sending"),
        *(f"request.{state}" for state in _STOPPED),
    }
)
#: It changes the fingerprint of a request with the master key, and nothing else of it, whether it has ended or not.
_SIGNED_AGAIN = "request.signed_again"
#: The answer to a call of a process that had lost its request by then.
_ANSWERED_LATE = "attempt.answered"
#: An older copy of the database was put in place: no approval from before counts any more.
_RESTORED = "database.restored"
_LEANS_ON_APPROVALS = ("request.approval", "request.break_glass", "request.attempt")
_SENDABLE = ("approved", "executing", "unresolved")
_UNDER_WAY = ("executing", "unresolved")
#: What each of these does, from a state to a state; any other keeps the state, or names the one it leads to.
_BY_ACTION: Mapping[str, frozenset[tuple[str, str]]] = {
    "request.approval": frozenset({(PENDING, PENDING), (PENDING, "approved")}),
    "request.break_glass": frozenset({(PENDING, "approved")}),
    "request.rows_left_out": frozenset({(PENDING, PENDING)}),
    "request.attempt": frozenset(
        {("approved", "executing"), ("executing", "executing"), ("unresolved", "unresolved")}
    ),
    "request.outcome": frozenset(
        (before, after) for before in _UNDER_WAY for after in (before, *_MOVES[before])
    ),
    "request.resolution_proposed": frozenset({("unresolved", "unresolved")}),
    "request.resolved_by_hand": frozenset({("unresolved", "succeeded"), ("unresolved", "failed")}),
    "request.rejected_before_sending": frozenset({("approved", "approved")}),
    "request.landed_late": frozenset({("failed", "succeeded")}),
    "request.reopened": frozenset({("failed", "unresolved")}),
}
_BY_A_PERSON = frozenset(
    {
        *("request.approval", "request.break_glass", "request.confirmed", "request.rejected"),
        *("request.rejected_before_sending", "request.rows_left_out", "request.stopped"),
        *("request.resolution_proposed", "request.resolved_by_hand"),
    }
)
#: What needs a second person's word, by its action: the kind of consent.
_CONSENTED = {"program.write_resumed": "resume", "program.drafts_off": "drafts_off"}
#: How decisions by a click are counted, by what a passkey would be for.
_COUNTED = {
    "approve": "approval(s)",
    "confirm": "confirmation(s)",
    "resolve": "resolution(s)",
    "consent": "consent(s)",
}
_PRESENT_AND_VERIFIED = 0x01 | 0x04
_FLAGS_AT = 32
_OUTCOMES = ("ok", "refused")
#: What the subject of an entry begins with that somebody's say depends on, by the beginning of its action.
_SUBJECTS = {
    "request.": "request",
    "passkey.made": "passkey",
    "passkey.added": "passkey",
    "passkey.ended": "passkey",
}
_READ_OUT_DIGITS = 20
_DIGITS_OF_CALLS = 32
_SHORTEST_DATA = 37

Json = Mapping[str, Any]
#: Raises ValueError where `signature` is not by the key `cose` over `data`.
Check = Callable[[bytes, bytes, bytes], None]


def with_cryptography() -> Check | None:
    """How a signature is checked; None where the package `cryptography` is not installed."""
    try:
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    except ImportError:
        return None

    def check(cose: bytes, signature: bytes, data: bytes) -> None:
        try:
            _verify(_cose_key(cose), signature, data)
        except (InvalidSignature, UnsupportedAlgorithm, KeyError, IndexError, TypeError):
            raise ValueError("it is not by this passkey") from None

    return check


def _verify(key: dict[int, Any], signature: bytes, data: bytes) -> None:
    """By the algorithms that Countersign lets devices use: ES256, EdDSA and RS256 (RFC 9053, RFC 8812)."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
    from cryptography.hazmat.primitives.hashes import SHA256

    kind, algorithm, number = key[1], key[3], int.from_bytes
    if (kind, algorithm) == (2, -7) and key[-1] == 1:
        point = ec.EllipticCurvePublicNumbers(number(key[-2]), number(key[-3]), ec.SECP256R1())
        point.public_key().verify(signature, data, ec.ECDSA(SHA256()))
    elif (kind, algorithm) == (1, -8) and key[-1] == 6:
        ed25519.Ed25519PublicKey.from_public_bytes(key[-2]).verify(signature, data)
    elif (kind, algorithm) == (3, -257):
        numbers = rsa.RSAPublicNumbers(number(key[-2]), number(key[-1]))
        numbers.public_key().verify(signature, data, padding.PKCS1v15(), SHA256())
    else:
        raise ValueError(f"its key is of a kind that isn't known here ({kind}, {algorithm})")


def _cose_key(raw: bytes) -> dict[int, Any]:
    """The fields of a public key: a CBOR map of whole numbers to whole numbers and bytes (RFC 8949, RFC 9052)."""
    place = 0

    def head() -> tuple[int, int]:
        nonlocal place
        major, value = raw[place] >> 5, raw[place] & 31
        place += 1
        if value >= 24:
            size = {24: 1, 25: 2, 26: 4, 27: 8}[value]
            value = int.from_bytes(raw[place : place + size])
            place += size
        return major, value

    def item() -> Any:
        nonlocal place
        major, value = head()
        if major == 0:
            return value
        if major == 1:
            return -1 - value
        if major != 2:
            raise ValueError("its key cannot be read")
        place += value
        return raw[place - value : place]

    major, count = head()
    if major != 5:
        raise ValueError("its key cannot be read")
    return {item(): item() for _ in range(count)}


def _unbase64url(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def read_out(public_key: str) -> str:
    """The fingerprint of a passkey as two people compare it: `3f9a 12bc 77de 0412 aa91`. `public_key` is base64url."""
    digits = hashlib.sha256(_unbase64url(public_key)).hexdigest()[:_READ_OUT_DIGITS]
    return " ".join(digits[at : at + 4] for at in range(0, len(digits), 4))


def _sha256(label: bytes, value: Any) -> bytes:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(label + b"\n" + canonical.encode()).digest()


class Passkeys:
    """Who had which passkey, as the entries tell so far, and whether each signature with one is right.

    `check` is None where signatures themselves cannot be checked; all else about them is.
    """

    def __init__(self, check: Check | None) -> None:
        self._check = check
        self._counting: dict[str, Json] = {}  # by the id of the passkey: its `passkey.added`
        self._made: dict[
            str, tuple[str, str]
        ] = {}  # that wait: whose, and the passkey that signed for it ("" = none)
        self._had_one: set[str] = set()
        self._is_click_enough = True  # until the first passkey here, or after a reset
        self._confirmed: dict[str, dict[str, Json]] = {}  # by the id of the passkey, by who confirmed it
        self._nonces: set[str] = set()
        self._versions: dict[str, int] = {}  # of each request, by its last entry
        self._requests = _Requests()
        self.decisions: Counter[str] = Counter()
        self.listed: list[str] = []  # every decision about a request, and every consent
        self.clicks: Counter[str] = (
            Counter()
        )  # decisions without a passkey by their purpose, those of rows apart
        self._given: Counter[tuple[str, str, str]] = Counter()  # consents: kind, about what, by whom
        self.known: list[str] = []  # each passkey that counted, with its fingerprint
        self.to_ask_about: list[str] = []

    @property
    def count(self) -> int:
        """How many decisions with a passkey were checked."""
        return self.decisions.total()

    def see(self, entry: dict[str, Any]) -> None:
        """Take the next entry. Raises Broken where it is a decision that its passkey did not sign."""
        _require_a_form(entry)
        if entry["outcome"] != "ok":
            return
        body = _body_of(entry)
        action, subject = entry["action"], str(entry["subject"])
        assertion = body.get("assertion") if action in _PURPOSES else None
        if action in _PURPOSES and "assertion" in body:  # whatever it is: none at all is no signature
            self._signed(entry, body, assertion)
        if action == _ANSWERED_LATE:
            self._requests.answered_late(entry, body)
        if action == _RESTORED:
            self._requests.older_copy()
        if (version := _version_of(entry)) is not None:
            if action != _SIGNED_AGAIN:
                self._versions[subject.split(":")[1]] = version
            self._requests.see(entry, body)
            self._require_standing(entry, body)
        if action in _PURPOSES:
            self._list(entry, body, assertion)
        self._require_consent(entry, body)
        if action == _SIGNED_AGAIN:
            self._ask(
                entry,
                f"{subject.split(':')[1]} was signed again under another master key. Was the key changed then?",
            )
        self._of_a_passkey(entry, body, assertion)

    def _of_a_passkey(self, entry: Json, body: Json, assertion: Json | None) -> None:
        """What it says of passkeys: made, confirmed, added or ended."""
        action, subject = entry["action"], str(entry["subject"])
        passkey = subject.removeprefix("passkey:")
        match action:
            case "passkey.made":
                self._made[passkey] = (body["person"], assertion["passkey"] if assertion else "")
                self._confirmed.pop(passkey, None)
            case "consent.given" if body.get("kind") == "passkey_add":
                self._confirmed.setdefault(str(body["about"]), {})[entry["actor"]] = body
            case "passkey.added":
                self._added(entry, passkey, body)
            case "passkey.ended":
                self._ended({passkey})
            case "passkey.all_ended":
                counting = {one for one, known in self._counting.items() if known["person"] == body["person"]}
                self._ended(counting | {one for one, made in self._made.items() if made[0] == body["person"]})
            case "passkey.reset":
                self._is_click_enough = True
                self._ended({*self._counting, *self._made})
                self._had_one.clear()
                self._ask(
                    entry,
                    "all passkeys were reset, so that the next one was confirmed by a click. Who did it?",
                )

    def _require_standing(self, entry: Json, body: Json) -> None:
        """Ask about what was sent first after a passkey with which it was approved had ended."""
        if entry["action"] != "request.attempt" or body.get("step") != "send":
            return
        signed, needed = self._requests.approvals_with_passkeys(entry)
        gone = sorted(who for who, passkey in signed.items() if passkey not in self._counting)
        if gone and len(signed) - len(gone) < needed:
            request = str(entry["subject"]).split(":")[1]
            self._ask(
                entry,
                f"{request} was sent after the passkey had ended with which {', '.join(gone)} approved it. Why?",
            )

    def _ended(self, passkeys: set[str]) -> None:
        """They count no more, and what was made or confirmed of them until now doesn't either."""
        for one in passkeys:
            for known in (self._counting, self._made, self._confirmed):
                known.pop(one, None)

    def finish(self) -> None:
        """After the last entry. Raises Broken for a row of a list that nobody approved."""
        for entry, what in self._requests.to_ask_about:
            self._ask(entry, what)
        for entry, request in self._requests.finish():
            self._ask(
                entry,
                f"{request} was done immediately, and nobody confirmed it. Is it still to be confirmed?",
            )

    def _list(self, entry: Json, body: Json, assertion: Json | None) -> None:
        """All but those about new passkeys, of which each that counts is listed itself."""
        purpose = _PURPOSES[entry["action"]]
        if purpose == "add" or body.get("kind") == "passkey_add":
            return
        if purpose == "approve" and not assertion and self._requests.asks_passkey(entry, body):
            request = str(entry["subject"]).split(":")[1]
            self._ask(
                entry,
                f"the policy asked for a passkey when {request} was requested, and it was approved by a click. Did"
                " the policy change before?",
            )
        if assertion:
            how = f"with the passkey {assertion['passkey']}"
        elif "batch" in body:
            how = f"as a row of {body['batch']}"
        else:
            how = "by a click"
            self.clicks[purpose] += 1
        about = str(entry["subject"]).split(":")[1]
        what = {
            "approve": about,
            "confirm": f"{about} confirmed",
            "resolve": f"{about} said {body.get('verdict')}",
            "consent": f"{body.get('kind')} of {body.get('about')} confirmed",
        }[purpose]
        self.listed.append(f"entry {entry['seq']}: {what} by {entry['actor']}, {how}")

    def _require_consent(self, entry: Json, body: Json) -> None:
        """Raises Broken for what takes two people and was done by one."""
        action, who = entry["action"], entry["actor"]
        if action == "consent.given":
            if who == body["asked_by"]:
                raise Broken(f"entry {entry['seq']}: {body['kind']} was confirmed by who requested it")
            self._given[body["kind"], body["about"], who] += 1
        # Draft only also ends by a setting, at a start.
        by_setting = action == "program.drafts_off" and who.startswith("system:")
        if action in _CONSENTED and not by_setting:
            program = str(entry["subject"]).split(":")[1]
            given = (_CONSENTED[action], program, who)
            if not self._given[given]:
                raise Broken(
                    f"entry {entry['seq']} is {_CONSENTED[action]} of {program}, which nobody confirmed"
                )
            self._given[given] -= 1

    def _ask(self, entry: Json, what: str) -> None:
        """About what only people can tell: an entry that nothing proves, and on which proofs depend."""
        self.to_ask_about.append(f"Ask about entry {entry['seq']}, by {entry['actor']}: {what}")

    def _added(self, entry: Json, passkey: str, body: Json) -> None:
        """Others confirmed exactly this key: one, or two where the person had one by then, and none that still counted
        signed for it."""
        person, where = body["person"], f"entry {entry['seq']}: the passkey {passkey}"
        made = self._made.pop(passkey, None)
        needed = 2 if person in self._had_one and (made is None or made[1] not in self._counting) else 1
        key = hashlib.sha256(_unbase64url(body["public_key"])).hexdigest()
        by = {
            one: said
            for one, said in self._confirmed.get(passkey, {}).items()
            if (said["key"], said["person"], said["asked_by"]) == (key, person, person)
        }
        if (
            made is None
            or made[0] != person
            or person in by
            or len(by) < needed
            or set(body["confirmed_by"]) != set(by)
        ):
            raise Broken(f"{where} was not confirmed by {needed} other person(s)")
        is_by_click = not all("assertion" in said for said in by.values())
        if is_by_click and not self._is_click_enough:
            raise Broken(f"{where} was confirmed without a passkey")
        shown = read_out(body["public_key"])
        self.known.append(f"entry {entry['seq']}: the passkey {passkey} of {person}, fingerprint {shown}")
        if is_by_click:
            self._ask(
                entry,
                f"the passkey {passkey} of {person} was confirmed by a click, as a first one is, and all later ones"
                f" rest on it. Does {person} read out the fingerprint {shown}?",
            )
        self._counting[passkey] = body
        self._had_one.add(person)
        self._is_click_enough = False

    def _signed(self, entry: Json, body: Json, assertion: Any) -> None:
        try:
            wrong = self._why_wrong(entry, body, assertion)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            wrong = f"cannot be read ({error})"
        if wrong:
            raise Broken(f"entry {entry['seq']}: the signature with a passkey {wrong}")
        self.decisions[_PURPOSES[entry["action"]]] += 1

    def _why_wrong(self, entry: Json, body: Json, assertion: Json) -> str:
        """Why it does not prove this decision, in words that follow "the signature"; empty where it does."""
        bound, found = assertion["bound"], self._counting.get(assertion["passkey"])
        if found is None:
            return "is by a passkey that did not count then"
        fields = {"person": bound["person"]} | {
            name: assertion[to]
            for name, to in (
                ("public_key", "public_key"),
                ("credential", "credential_id"),
                ("rp_id", "rp_id"),
            )
        }
        if any(found[name] != value for name, value in fields.items()):
            return "is by another passkey than the one that was confirmed"
        if bound != {**bound, **self._about(entry, body)}:
            return "is about something else"
        if not self._is_of_this_version(entry, bound):
            return "is about another version"
        if bound["nonce"] in self._nonces:
            return "was used before"
        self._nonces.add(bound["nonce"])
        return self._why_not_given(assertion)

    def _is_of_this_version(self, entry: Json, bound: Json) -> bool:
        """Of the request as it was until then; what has no versions is signed as version 0."""
        after = _version_of(entry)
        if after is None:
            return bool(bound["version"] == 0)
        return bool(self._versions.get(bound["subject"], 0) <= bound["version"] < after)

    def _about(self, entry: Json, body: Json) -> Json:
        """What has to be signed for this entry."""
        purpose = _PURPOSES[entry["action"]]
        subject = str(entry["subject"]).split(":")[1]
        digest = str(body.get("digest", ""))
        if purpose == "resolve":
            digest = _sha256(b"countersign-resolution-v1", [digest, body["verdict"], body["evidence"]]).hex()
        if purpose == "consent":
            names = ("kind", "about", "asked_by", "assertion", "signed_rows")
            terms = {name: value for name, value in body.items() if name not in names}
            asked = {
                "kind": body["kind"],
                "subject": body["about"],
                "terms": terms,
                "asked_by": body["asked_by"],
            }
            digest = _sha256(b"countersign-consent-v1", asked).hex()
        return {"purpose": purpose, "subject": subject, "person": entry["actor"], "digest": digest}

    def _why_not_given(self, assertion: Json) -> str:
        """The rules of WebAuthn (level 2, 7.2), for a person whom the device has recognised."""
        data = _unbase64url(assertion["authenticator_data"])
        said = _unbase64url(assertion["client_data_json"])
        client, rp_id = json.loads(said), assertion["rp_id"]
        challenge = _sha256(b"countersign-passkey-v1", assertion["bound"])
        if client["type"] != "webauthn.get" or _unbase64url(client["challenge"]) != challenge:
            return "is over something else"
        if client["origin"] != assertion["origin"] or urlsplit(client["origin"]).hostname != rp_id:
            return "was given on another page"
        if len(data) < _SHORTEST_DATA or data[:_FLAGS_AT] != hashlib.sha256(rp_id.encode()).digest():
            return "was given for another address"
        if data[_FLAGS_AT] & _PRESENT_AND_VERIFIED != _PRESENT_AND_VERIFIED:
            return "was given without a fingerprint, a face or a PIN"
        if self._check is not None:
            signature = _unbase64url(assertion["signature"])
            try:
                self._check(
                    _unbase64url(assertion["public_key"]), signature, data + hashlib.sha256(said).digest()
                )
            except ValueError as error:
                return f"is wrong: {error}"
        return ""

    def report(self) -> str:
        """What is to be said of them, as a sentence; empty where there is none."""
        if not self.count:
            return ""
        words = ", ".join(f"{count} to {purpose}" for purpose, count in sorted(self.decisions.items()))
        if self._check is None:
            return (
                f"Not checked: {self.count} signature(s) with passkeys ({words}), as the Python package cryptography is"
                " not installed. All else about them fits. Run `pip install cryptography`, then this again."
            )
        return f"Passkeys: {self.count} signature(s) are right ({words})."

    def report_of_clicks(self) -> str:
        """How many decisions no passkey proves, as a sentence; empty where passkeys are not used."""
        if not self.known or not self.clicks:
            return ""
        counted = ", ".join(
            f"{self.clicks[one]} {word}" for one, word in _COUNTED.items() if self.clicks[one]
        )
        return f"By a click alone: {counted}. `--passkeys` lists each, to compare with the policy."


class _Call:
    """The fingerprints of a call as it began, and of its answer ("" = none yet). `is_late`: its process had lost it."""

    def __init__(self, begun: str, answer: str = "", *, is_late: bool = False) -> None:
        self.begun, self.answer, self.is_late = begun, answer, is_late


def _of_calls(each: Mapping[int, str]) -> str:
    """The fingerprint of several calls, as Countersign makes it: number -> that of its answer, or as it began."""
    parts = [part for number in sorted(each) for part in (number, each[number])]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS_OF_CALLS]


class _Request:
    """What the entries tell so far of one request.

    `rows`: of a list, those that were not left out; None = it is none.
    """

    def __init__(self, entry: Json, body: Json) -> None:
        self.requester, self.kind = str(entry["actor"]), str(body.get("kind"))
        self.digest, self.state, self.version = str(body["digest"]), PENDING, _version_of(entry) or 0
        self.terms: Json = body  # what the policy asked for then
        self.rows = set(map(str, body["rows"])) if "rows" in body else None
        self.batch = ""  # of a row: its list
        self.approved_by: set[str] = set()
        self.calls = 0
        #: The fingerprint of what its row says of its calls, and each call by its number; None = an older version of
        #: Countersign wrote some of it, or it had ended since.
        self.progress: Any = body.get("progress")
        self.made: dict[int, _Call] | None = {}
        self.verdicts: dict[str, str] = {}  # how it ended, as each person said last
        self.is_granted = False  # approved by as many as it takes, or done immediately
        self.is_given = False  # approved by somebody
        self.is_void = False  # that was before an older copy of the database was put in place
        self.with_passkeys: dict[str, str] = {}  # by who approved it: the passkey


def _leads_nowhere(action: str, body: Json) -> bool:
    """Does this entry end a request, and no more? Nothing is sent by it, or counts by it."""
    return body["state"] in _STOPPED and action in ("request.put_right", f"request.{body['state']}")


class _Requests:
    """Each request as the entries tell of it: they may only follow one another as Countersign writes them."""

    def __init__(self) -> None:
        self._known: dict[str, _Request] = {}
        self._immediate: dict[str, Json] = {}  # done immediately, which nobody confirmed yet
        #: Approvals of rows that wait for the one of their list, which comes next: the list, and who approved each.
        self._waiting: tuple[str, dict[str, set[str]], Json] | None = None
        self.to_ask_about: list[tuple[Json, str]] = []

    def see(self, entry: Json, body: Json) -> None:
        """Take the next entry about a request. Raises Broken where it cannot follow those before it."""
        subject, action = str(entry["subject"]).split(":")[1], entry["action"]
        if (
            action == "request.stage" and subject in self._known
        ):  # what became of a deposit: no state of the request
            body = {**body, "state": self._known[subject].state}
        if action == _SIGNED_AGAIN and subject in self._known:  # says none of what has ended
            body = {"state": self._known[subject].state, **body}
        if body.get("state") not in _MOVES:
            raise Broken(f"entry {entry['seq']}: it does not say in which state {subject} is")
        self._require_its_list_next(entry, body, subject)
        known = self._known.get(subject)
        if action == "request.submitted":
            self._submitted(entry, body, subject)
            return
        self._has_its_terms(entry, body, subject, known)
        if known is None:
            return
        if known.state not in _OPEN and action != "request.put_right" and _leads_nowhere(action, body):
            what = f"{subject} was {known.state} already. Who put it back in the database?"
            self.to_ask_about.append((entry, what))
            return
        self._has_moved(entry, body, subject, known)
        self._leans_on_none_of_before(entry, subject, known)
        self._has_its_calls(entry, body, subject, known)
        self._by_people(entry, body, subject, known)
        if action == "request.approval":
            self._approval(entry, body, subject, known)
        if action == "request.attempt":
            self._attempt(entry, body, subject, known)
        if action == "request.reopened":
            known.verdicts.clear()  # they were of how it had ended before
        known.state = body["state"]
        if action != _SIGNED_AGAIN:
            known.version = _version_of(entry) or 0
        known.is_given = known.is_given or action in ("request.approval", "request.break_glass")
        if known.state in _GRANTED and not known.is_granted:
            raise Broken(f"entry {entry['seq']}: {subject} is {known.state}, and nobody had approved it")

    def older_copy(self) -> None:
        """An older copy of the database was put in place: what was sent since it was made is not in this log."""
        for known in self._known.values():
            known.is_void = known.is_given

    def _leans_on_none_of_before(self, entry: Json, subject: str, known: _Request) -> None:
        is_unsent = known.state in (PENDING, "approved")
        if known.is_void and is_unsent and entry["action"] in _LEANS_ON_APPROVALS:
            before = "approved before an older copy of the database was put in place"
            raise Broken(f"entry {entry['seq']}: {subject} was {before}, and went on by {entry['action']}")

    def asks_passkey(self, entry: Json, body: Json) -> bool:
        """Did the policy ask for one when this was requested, or a row of it? A row is approved with its list."""
        known = self._known.get(str(entry["subject"]).split(":")[1])
        if known is None or "batch" in body:
            return False
        rows = [self._known[row] for row in known.rows or ()]
        return any(one.terms.get("passkey") for one in (known, *rows))

    def _submitted(self, entry: Json, body: Json, subject: str) -> None:
        where = f"entry {entry['seq']}: {subject}"
        if subject in self._known:
            raise Broken(f"{where} was submitted twice")
        if body["state"] != PENDING or not _is_person(entry["actor"]):
            raise Broken(f"{where} was not submitted by a person, to be approved")
        made = self._known[subject] = _Request(entry, body)
        for row in made.rows or ():
            known = self._known.get(row)
            if known is None or (known.requester, known.kind, known.state) != (
                made.requester,
                made.kind,
                PENDING,
            ):
                raise Broken(f"{where} is a list with {row}, which was not submitted for it")
            if known.batch or known.rows is not None or known.approved_by:
                raise Broken(f"{where} is a list with {row}, which stands by itself or in another list")
            known.batch = subject

    def _has_its_terms(self, entry: Json, body: Json, subject: str, known: _Request | None) -> None:
        action, where = entry["action"], f"entry {entry['seq']}: {subject}"
        before = body.get("before") if action == _SIGNED_AGAIN else body.get("digest")
        if (known is None or known.state not in _OPEN) and _leads_nowhere(action, body):
            self._ask_who_put_it_there(entry, subject, known, before)
            return
        if known is None or (before != known.digest and action != "request.rows_left_out"):
            raise Broken(f"{where} has another fingerprint than when it was submitted")
        if str(body.get("kind")) != known.kind:
            raise Broken(f"{where} is of another kind than when it was submitted")
        if action == "request.rows_left_out":
            out = set(map(str, body["rows"]))
            if not out or not out < (known.rows or set()) or known.state != PENDING:
                raise Broken(f"{where} has no such rows to leave out")
            if entry["actor"] != known.requester or any(self._known[row].state != "cancelled" for row in out):
                raise Broken(f"{where} has rows left out that its requester did not leave out")
            known.rows = (known.rows or set()) - out
            known.terms = body
            known.approved_by.clear()  # what was approved before, was approved with these rows
            known.with_passkeys.clear()
        known.digest = str(body["digest"])

    def _ask_who_put_it_there(self, entry: Json, subject: str, known: _Request | None, digest: Any) -> None:
        """Countersign ends what is open in the database and not in the log, whoever put it there, and says so."""
        if known is None:
            what = f"{subject} was never submitted by this log, and stood in the database. Who could write to it?"
            self.to_ask_about.append((entry, what))
        elif digest != known.digest:
            what = (
                f"{subject} had ended, and asked for something else in the database. Who could write to it?"
            )
            self.to_ask_about.append((entry, what))

    def _has_moved(self, entry: Json, body: Json, subject: str, known: _Request) -> None:
        """Raises Broken for a state that does not follow, such as one that was sent after it had ended."""
        action, before, after = entry["action"], known.state, body["state"]
        where = f"entry {entry['seq']}: {subject}"
        if action == "request.put_right":
            self.to_ask_about.append(
                (
                    entry,
                    f"an older state of {subject} had been put back in the database. Who could write to it?",
                )
            )
            return
        version = _version_of(entry) or 0
        if version < known.version or (version == known.version and after != before):
            raise Broken(f"{where} has an older version than before")
        if action == _SIGNED_AGAIN:
            if after != before:
                raise Broken(f"{where} was {before}, and is {after} by {action}")
            return
        if action == "request.attempt" and before not in _SENDABLE:
            how = "nobody had approved it" if before == PENDING else f"it was {before} already"
            raise Broken(f"{where} was sent, and {how}")
        if before in _STOPPED and after in _STOPPED:
            if (action, after) != ("request.purged", before):
                raise Broken(f"{where} was {before} already")
            return
        moves = _BY_ACTION.get(action)
        is_move = (before, after) in moves if moves is not None else after in (before, *_MOVES[before])
        if moves is None and after != before and action != f"request.{after}":
            is_move = False
        if not is_move:
            if after in _GRANTED and before == PENDING:
                raise Broken(f"{where} is {after}, and nobody had approved it")
            raise Broken(f"{where} was {before}, and is {after} by {action}")

    def _has_its_calls(self, entry: Json, body: Json, subject: str, known: _Request) -> None:
        """Raises Broken for an entry that says something else of the calls until then than their own entries do."""
        where, action = f"entry {entry['seq']}: {subject}", entry["action"]
        if known.made is not None and "calls" in body and action != "request.put_right":
            unanswered = set(body.get("unanswered", ()))
            each = {n: one.begun if n in unanswered else one.answer for n, one in known.made.items()}
            had = [
                n
                for n in unanswered & known.made.keys()
                if known.made[n].answer and not known.made[n].is_late
            ]
            if had or str(body["calls"]) != _of_calls(each):
                raise Broken(f"{where} follows from other calls than are on record")
        is_row_left_out = action == "request.cancelled" and "batch" in body
        if (
            known.progress is not None
            and action in _KEEPS_CALLS
            and not is_row_left_out
            and body.get("progress", known.progress) != known.progress
        ):
            if known.state not in ("pending", "approved") or body["state"] not in _STOPPED:
                raise Broken(
                    f"{where} says something else of its calls than the entry before, and is about none"
                )
            # Nothing is sent by an end, and who had the row changed before does not keep people from ending it.
            what = f"what {subject} says of its calls was changed before it ended. Who could write to the database?"
            self.to_ask_about.append((entry, what))
        if body["state"] not in _OPEN:
            known.progress = known.made = None
            return
        if action != _SIGNED_AGAIN:
            known.progress = body.get("progress")
        known.made = self._calls_after(action, body, known.made)

    def _calls_after(self, action: str, body: Json, made: dict[int, _Call] | None) -> dict[int, _Call] | None:
        """With the call that this entry begins, or the answer that it has."""
        if made is None or (action == "request.attempt" and "call" not in body):
            return None
        if action == "request.attempt":
            return {**made, body["number"]: _Call(str(body["call"]))}
        if action != "request.outcome" or "attempt" not in body:
            return made
        number = int(body["attempt"])
        if "answer" not in body or number not in made:
            return None
        made[number].answer = str(body["answer"])
        return made

    def answered_late(self, entry: Json, body: Json) -> None:
        """Take the answer to a call whose process had lost its request."""
        subject, _, number = str(entry["subject"]).partition(":")[2].rpartition(".")
        known = self._known.get(subject)
        if known is not None and known.made is not None and number.isdecimal() and int(number) in known.made:
            begun = known.made[int(number)].begun
            known.made[int(number)] = _Call(begun, str(body["answer"]), is_late=True)

    def _by_people(self, entry: Json, body: Json, subject: str, known: _Request) -> None:
        """Raises Broken for what only a person may do, only somebody else, or two people."""
        where, who, action = f"entry {entry['seq']}: {subject}", entry["actor"], entry["action"]
        if action in _BY_A_PERSON and not _is_person(who):
            raise Broken(f"{where} was decided by {who}, who is no person")
        match action:
            case "request.break_glass":
                if known.kind not in IMMEDIATE:
                    raise Broken(f"{where} was done immediately, which only a freeze may be")
                if who != known.requester:
                    raise Broken(f"{where} was done immediately by another person than its requester")
                known.is_granted = True
                self._immediate[subject] = entry
            case "request.confirmed":
                if who == known.requester:
                    raise Broken(f"{where} was confirmed by its requester")
                self._immediate.pop(subject, None)
            case "request.resolution_proposed" | "request.resolved_by_hand":
                known.verdicts[who] = body["verdict"]
                if action == "request.resolved_by_hand":
                    if list(known.verdicts.values()).count(body["verdict"]) < 2:
                        raise Broken(f"{where} was resolved by one person alone")
                    if body["state"] != body["verdict"]:
                        raise Broken(f"{where} was resolved otherwise than people said")

    def _approval(self, entry: Json, body: Json, subject: str, known: _Request) -> None:
        where = f"entry {entry['seq']}: {subject}"
        if (batch := body.get("batch")) is None:
            if known.batch:
                raise Broken(f"{where} was approved by itself, and is a row of {known.batch}")
            known.approved_by.add(entry["actor"])
            if isinstance(assertion := body.get("assertion"), dict):
                known.with_passkeys[entry["actor"]] = str(assertion.get("passkey"))
            self._enough(entry, body, subject, known)
            self._with_its_rows(entry, body, subject, known)
            return
        if batch != known.batch or subject not in (self._known[batch].rows or ()):
            raise Broken(f"{where} is no row of {batch}")
        by = {entry["actor"], *body["by"]}
        if known.requester in by:
            raise Broken(f"{where} was approved by its requester")
        if body["state"] != "approved":
            raise Broken(f"{where} was not approved with its list")
        known.is_granted = True
        rows = self._waiting[1] if self._waiting else {}
        self._waiting = (batch, {**rows, subject: by}, entry)

    def _require_its_list_next(self, entry: Json, body: Json, subject: str) -> None:
        """All rows of a list are approved with it: their entries come in a row, and then the one of the list."""
        if self._waiting is None:
            return
        batch, _, first = self._waiting
        is_another_row = entry["action"] == "request.approval" and body.get("batch") == batch
        is_the_list = entry["action"] == "request.approval" and subject == batch
        if not is_another_row and not is_the_list:
            raise Broken(f"entry {first['seq']} is the approval of a row of {batch}, which nobody approved")

    def _with_its_rows(self, entry: Json, body: Json, subject: str, known: _Request) -> None:
        is_approved = body["state"] == "approved"
        _, rows, first = self._waiting or ("", {}, entry)
        self._waiting = None
        if known.rows is None:
            return
        if rows and not is_approved:
            raise Broken(f"entry {first['seq']} is the approval of a row of {subject}, which nobody approved")
        if is_approved and set(rows) != known.rows:
            raise Broken(f"entry {entry['seq']}: {subject} was approved without all of its rows")
        for by in rows.values():
            if not by <= known.approved_by:
                others = ", ".join(sorted(by - known.approved_by))
                raise Broken(f"entry {first['seq']}: {subject} was not approved by {others}")
            if len(by) < len(known.approved_by):
                raise Broken(f"entry {first['seq']}: a row of {subject} was approved by fewer than its list")

    def _attempt(self, entry: Json, body: Json, subject: str, known: _Request) -> None:
        where = f"entry {entry['seq']}: {subject}"
        if known.rows is not None:
            raise Broken(f"{where} is a list and was sent itself")
        if body.get("number") != known.calls + 1:
            raise Broken(f"{where} was called for the {known.calls + 1}. time, and says {body.get('number')}")
        known.calls += 1

    def approvals_with_passkeys(self, entry: Json) -> tuple[dict[str, str], int]:
        """Of what is sent by this entry: who approved it with which passkey, and how many approvals it takes."""
        known = self._known[str(entry["subject"]).split(":")[1]]
        whole = self._known[known.batch] if known.batch else known
        return whole.with_passkeys, int(whole.terms.get("approvals_needed", 1))

    def _enough(self, entry: Json, body: Json, subject: str, known: _Request) -> None:
        """Raises Broken where its requester approved, or fewer than it takes."""
        if entry["actor"] == known.requester:
            raise Broken(f"entry {entry['seq']}: {subject} was approved by its requester")
        asked = max(known.terms.get("approvals_needed", 1), body.get("conditions", {}).get("needed", 0))
        is_approved = body["state"] == "approved"
        needed = max(body.get("approvals", 1), asked if is_approved else 0, 1)
        if len(known.approved_by) < needed:
            raise Broken(
                f"entry {entry['seq']}: {subject} has {len(known.approved_by)} of {needed} approvals"
            )
        known.is_granted = is_approved

    def finish(self) -> list[tuple[Json, str]]:
        """What was done immediately and nobody confirmed. Raises Broken for a row whose list nobody approved."""
        if self._waiting is not None:
            batch, _, first = self._waiting
            raise Broken(f"entry {first['seq']} is the approval of a row of {batch}, which nobody approved")
        return [(entry, request) for request, entry in self._immediate.items()]


def _is_person(actor: object) -> bool:
    """`system:…` is Countersign itself, and `cli:…` somebody at its machine."""
    return isinstance(actor, str) and ":" not in actor and bool(actor)


def _body_of(entry: Json) -> dict[str, Any]:
    """Raises TypeError where it is something else than an object."""
    found = json.loads(entry["body"])
    if not isinstance(found, dict):
        raise TypeError(f"the body of entry {entry['seq']} is no object")
    return found


def _require_a_form(entry: Json) -> None:
    """Raises Broken for what Countersign never writes: an entry in another form would be looked at by no rule here."""
    action, parts = str(entry["action"]), str(entry["subject"]).split(":")
    if entry["outcome"] not in _OUTCOMES:
        raise Broken(f"entry {entry['seq']} has the outcome {entry['outcome']}, which there is not")
    if entry["outcome"] != "ok":
        return
    for begins, about in _SUBJECTS.items():
        if action.startswith(begins) and parts[0] != about:
            raise Broken(f"entry {entry['seq']}, {action}, is about no {about}")
    if len(parts) < 2 and action in (*_CONSENTED, "consent.given"):
        raise Broken(f"entry {entry['seq']}, {action}, does not say what it is about")
    if action.startswith("request.") and not (len(parts) == 3 and parts[2].isdecimal()):
        raise Broken(f"entry {entry['seq']}, {action}, names no version of the request")


def _version_of(entry: Json) -> int | None:
    """Of the request, as this entry left it; None for what has no versions."""
    parts = str(entry["subject"]).split(":")
    return int(parts[2]) if parts[0] == "request" and len(parts) > 2 else None


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


class OlderCopies:
    """That an older copy of the database was put in place, as the log says: anchors of what was lost then are known."""

    def __init__(self) -> None:
        self._found: list[tuple[Json, Json]] = []
        self._lost: dict[
            int, int
        ] = {}  # by the entry that says so: the last entry that was lost with the copy

    def see(self, entry: dict[str, Any]) -> None:
        """Take the next entry."""
        if entry["action"] == _RESTORED and entry["outcome"] == "ok":
            self._found.append((entry, _body_of(entry)))

    def has_lost(self, anchor: Json) -> bool:
        """Is it of an entry that was lost with an older copy: named by the log, or made after the copy and before the
        log goes on?"""
        for entry, body in self._found:
            if anchor["seq"] <= int(body["head"]):
                continue
            if anchor["hash"] in body.get("lost", ()) or str(anchor["at"]) <= str(entry["at"]):
                self._lost[entry["seq"]] = max(self._lost.get(entry["seq"], 0), anchor["seq"])
                return True
        return False

    def to_ask_about(self) -> list[str]:
        """What only people can tell: what was done in the entries that the anchors know and the log does not."""
        return [
            f"Ask about entry {entry['seq']}, by {entry['actor']}: an older copy of the database was put in place, and"
            f" the entries {int(body['head']) + 1:,} to {self._lost[entry['seq']]:,} of before are lost. Who did it,"
            " and what was done in them?"
            for entry, body in self._found
            if entry["seq"] in self._lost
        ]


def check_anchors(lines: Iterable[str], hashes: dict[int, str], copies: OlderCopies) -> tuple[int, int]:
    """How many anchors fit, and the number of the last entry that one of them proves.

    Raises Broken for one that is no entry of this chain, and was not lost with an older copy either.
    """
    count = newest = 0
    for line in filter(str.strip, lines):
        anchor = json.loads(line)
        if hashes.get(anchor["seq"]) != anchor["hash"]:
            if copies.has_lost(anchor):
                continue
            raise Broken(f"the anchor of entry {anchor['seq']} is of another chain, or the end was cut off")
        count, newest = count + 1, max(newest, anchor["seq"])
    return count, newest


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        yield from filter(str.strip, file)


_NO_ANCHORS = (
    "Not proven, as no anchors were given: that nothing was cut off at the end, and that this is the log of then. Give"
    " a file of anchors that was kept elsewhere, such as the lines of the audit channel:"
    " python verify_audit.py FILE ANCHORS"
)


def _not_proven(anchored: int, last: int) -> str:
    """What anchors do not prove: an anchor speaks for its entry and those before it, and for none after it."""
    if not anchored:
        return _NO_ANCHORS
    if anchored == last:
        return ""
    return (
        f"Not proven by the anchors: entries {anchored + 1:,} to {last:,}, which came after the newest anchor. Give a"
        " later one that was kept elsewhere: Countersign makes one every 15 minutes."
    )


def main(arguments: list[str]) -> int:
    lists = "--passkeys" in arguments
    names = [one for one in arguments if one != "--passkeys"]
    if not 1 <= len(names) <= 2 or any(one.startswith("-") for one in names):
        sys.stdout.write(f"{__doc__}\n")
        return 2
    path = Path(names[0])
    passkeys, copies = Passkeys(with_cryptography()), OlderCopies()

    def see(entry: dict[str, Any]) -> None:
        passkeys.see(entry)
        copies.see(entry)

    try:
        hashes = check_chain(_lines(path), see)
        passkeys.finish()
        check_manifest(path, len(hashes), hashes[len(hashes)])
        given = _lines(Path(names[1])) if len(names) == 2 else ()
        anchors, anchored = check_anchors(given, hashes, copies)
    except Broken as fault:
        _say(f"Broken: {fault}.")
        return 1
    except RecursionError:
        _say("It cannot be read as an export: something in it is nested too deeply")
        return 2
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        _say(f"It cannot be read as an export: {error}")
        return 2
    more = f", and {anchors} anchor(s) fit it" if anchors else ""
    _say(
        f"Whole: {len(hashes):,} entries, each follows the one before and has its own content's fingerprint{more}."
    )
    more_lines = [
        passkeys.report(),
        passkeys.report_of_clicks(),
        _not_proven(anchored, len(hashes)),
        *passkeys.to_ask_about,
        *copies.to_ask_about(),
        *([*passkeys.known, *passkeys.listed] if lists else ()),
    ]
    for line in filter(None, more_lines):
        _say(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
