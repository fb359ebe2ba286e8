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
list counts as approved with the list alone. Nothing counts as sent or done that has fewer approvals than it was
requested with, or that its requester approved; a freeze alone is done immediately. Where people said how a request
ended, and where they resumed sending after a pause, two of them did. `--passkeys` lists every decision, and whether it
was given with one.

What an export cannot prove, it says, and names the entry to ask about. Whoever has the machine can make up a whole
log with passkeys of their own, and leave out what the policy asked for. So compare the fingerprints of the passkeys
that are printed with what their people read out to you, and the log with anchors that were kept elsewhere. Ask people
about resets of passkeys and new master keys.

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


def _say(text: object) -> None:
    sys.stdout.write(f"{text}\n")


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
        body = json.loads(entry["body"])
        action, subject = entry["action"], str(entry["subject"])
        assertion = body.get("assertion") if action in _PURPOSES else None
        if action in _PURPOSES and "assertion" in body:  # whatever it is: none at all is no signature
            self._signed(entry, body, assertion)
        if (version := _version_of(entry)) is not None:
            self._versions[subject.split(":")[1]] = version
            self._requests.see(entry, body)
        if action in _PURPOSES:
            self._list(entry, body, assertion)
        self._require_consent(entry, body)
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
            case "request.signed_again":
                self._ask(
                    entry,
                    f"{subject.split(':')[1]} was signed again under another master key. Was the key changed then?",
                )

    def _ended(self, passkeys: set[str]) -> None:
        """They count no more, and what was made or confirmed of them until now doesn't either."""
        for one in passkeys:
            for known in (self._counting, self._made, self._confirmed):
                known.pop(one, None)

    def finish(self) -> None:
        """After the last entry. Raises Broken for a row of a list that nobody approved."""
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
        if action in _CONSENTED and not who.startswith("system:"):
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
            names = ("kind", "about", "asked_by", "assertion")
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


class _Requests:
    """What each request asked for, by its fingerprint, and which rows wait for the approval of their list."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._rows: dict[str, set[str]] = {}  # by the id of the list
        self._approved_by: dict[str, set[str]] = {}
        self._decided: set[str] = set()  # approved by as many as it takes, or done immediately
        self._submitted: dict[str, tuple[str, str]] = {}  # by whom, of which kind
        self._terms: dict[str, Json] = {}  # what the policy asked for then
        self._immediate: dict[str, Json] = {}  # done immediately, which nobody confirmed yet
        self._verdicts: dict[str, dict[str, str]] = {}  # how it ended, as each person said last
        self._waiting: dict[str, list[tuple[Json, set[str]]]] = {}  # approvals of rows, by the id of the list

    def see(self, entry: Json, body: Json) -> None:
        """Take the next entry about a request. Raises Broken where it has other terms, or is a row of no list."""
        subject, action, digest = str(entry["subject"]).split(":")[1], entry["action"], body.get("digest")
        known = self._digests.get(subject)
        if action == "request.submitted" and known is None:
            self._rows[subject] = set(body.get("rows", ()))
        elif action == "request.rows_left_out" and self._rows.get(subject):
            self._rows[subject] -= set(body["rows"])
            self._approved_by.pop(subject, None)  # what was approved before, was approved with these rows
        elif (body.get("before") if action == "request.signed_again" else digest) != known or known is None:
            raise Broken(
                f"entry {entry['seq']}: {subject} has another fingerprint than when it was submitted"
            )
        self._digests[subject] = str(digest)
        self._of_its_kind(entry, body, subject)
        if action == "request.approval":
            self._approval(entry, body, subject)
        self._by_people(entry, body, subject)
        if subject in self._decided or action == "request.submitted":
            return
        if action == "request.attempt":
            raise Broken(f"entry {entry['seq']}: {subject} was sent, and nobody had approved it")
        if (state := body.get("state")) in _GRANTED:
            raise Broken(f"entry {entry['seq']}: {subject} is {state}, and nobody had approved it")

    def asks_passkey(self, entry: Json, body: Json) -> bool:
        """Did the policy ask for one when this was requested? A row is approved with its list."""
        terms = self._terms.get(str(entry["subject"]).split(":")[1], {})
        return bool(terms.get("passkey")) and "batch" not in body

    def _of_its_kind(self, entry: Json, body: Json, subject: str) -> None:
        kind = str(body.get("kind"))
        if entry["action"] == "request.submitted":
            self._submitted[subject] = (entry["actor"], kind)
        if entry["action"] in ("request.submitted", "request.rows_left_out"):
            self._terms[subject] = body
        if kind != self._submitted[subject][1]:
            raise Broken(f"entry {entry['seq']}: {subject} is of another kind than when it was submitted")

    def _by_people(self, entry: Json, body: Json, subject: str) -> None:
        """Raises Broken for what only somebody else may do, or two people."""
        requester, kind = self._submitted[subject]
        where, who = f"entry {entry['seq']}: {subject}", entry["actor"]
        match entry["action"]:
            case "request.break_glass":
                if kind not in IMMEDIATE:
                    raise Broken(f"{where} was done immediately, which only a freeze may be")
                if who != requester:
                    raise Broken(f"{where} was done immediately by another person than its requester")
                self._decided.add(subject)
                self._immediate[subject] = entry
            case "request.confirmed":
                if who == requester:
                    raise Broken(f"{where} was confirmed by its requester")
                self._immediate.pop(subject, None)
            case "request.resolution_proposed" | "request.resolved_by_hand" as action:
                said = self._verdicts.setdefault(subject, {})
                said[who] = body["verdict"]
                if action == "request.resolved_by_hand" and list(said.values()).count(body["verdict"]) < 2:
                    raise Broken(f"{where} was resolved by one person alone")

    def _approval(self, entry: Json, body: Json, subject: str) -> None:
        if (batch := body.get("batch")) is None:
            given = self._approved_by.setdefault(subject, set())
            given.add(entry["actor"])
            self._enough(entry, body, subject, given)
            for row, by in self._waiting.pop(subject, ()):
                if not by <= given:
                    raise Broken(
                        f"entry {row['seq']}: {subject} was not approved by {', '.join(sorted(by - given))}"
                    )
            return
        if subject not in self._rows.get(batch, ()):
            raise Broken(f"entry {entry['seq']}: {subject} is no row of {batch}")
        self._decided.add(subject)
        # The entry of a list follows those of its rows.
        self._waiting.setdefault(batch, []).append((entry, {entry["actor"], *body["by"]}))

    def _enough(self, entry: Json, body: Json, subject: str, given: set[str]) -> None:
        """Raises Broken where its requester approved, or fewer than it takes."""
        if entry["actor"] == self._submitted[subject][0]:
            raise Broken(f"entry {entry['seq']}: {subject} was approved by its requester")
        asked = max(
            self._terms[subject].get("approvals_needed", 1), body.get("conditions", {}).get("needed", 0)
        )
        is_approved = body.get("state") in _GRANTED
        needed = max(body.get("approvals", 1), asked if is_approved else 0)
        if len(given) < needed:
            raise Broken(f"entry {entry['seq']}: {subject} has {len(given)} of {needed} approvals")
        if is_approved:
            self._decided.add(subject)

    def finish(self) -> list[tuple[Json, str]]:
        """What was done immediately and nobody confirmed. Raises Broken for a row whose list nobody approved."""
        for batch, rows in self._waiting.items():
            raise Broken(
                f"entry {rows[0][0]['seq']} is the approval of a row of {batch}, which nobody approved"
            )
        return [(entry, request) for request, entry in self._immediate.items()]


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


def check_anchors(lines: Iterable[str], hashes: dict[int, str]) -> tuple[int, int]:
    """How many anchors there are, and the number of the last entry that one of them proves.

    Raises Broken for one that is no entry of this chain.
    """
    count = newest = 0
    for line in filter(str.strip, lines):
        anchor = json.loads(line)
        if hashes.get(anchor["seq"]) != anchor["hash"]:
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
        _say(__doc__)
        return 2
    path = Path(names[0])
    passkeys = Passkeys(with_cryptography())
    try:
        hashes = check_chain(_lines(path), passkeys.see)
        passkeys.finish()
        check_manifest(path, len(hashes), hashes[len(hashes)])
        given = _lines(Path(names[1])) if len(names) == 2 else ()
        anchors, anchored = check_anchors(given, hashes)
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
    more_lines = [
        passkeys.report(),
        passkeys.report_of_clicks(),
        _not_proven(anchored, len(hashes)),
        *passkeys.to_ask_about,
        *([*passkeys.known, *passkeys.listed] if lists else ()),
    ]
    for line in filter(None, more_lines):
        _say(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
