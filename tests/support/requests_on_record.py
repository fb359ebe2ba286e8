"""Many requests that have ended, as years of work leave them, with everything of them on the audit chain.

Unlike those of `large_data`, all that is signed of them holds: they are copies of one that the bot carried out itself,
with other ids and times, and with its entries as the bot wrote them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Table, insert, update

from bot.domain.requests import Attempt, Decision, Request, fingerprints
from bot.services.requests.signatures import digest_of
from storage import audit
from storage import tables as t
from storage.columns import json_text, time_text
from storage.requests import attempts, decisions
from storage.transaction import Tx
from tests.support.world import World

_TEXTS = ("actor", "action", "subject", "outcome", "reason_code", "body", "policy_version")
_PIECE = 5_000


async def many(
    world: World, template: Request, count: int, *, apart: timedelta = timedelta(0), prefix: str = "R-"
) -> None:
    """`count` of them, one `apart` from the next, the last just before now.

    `template` was approved by one person, sent once, and has succeeded; what it says is copied, in all its rows and in
    its entries.
    """
    async with world.store.read() as tx:
        (approval,) = await decisions.of(tx, template.id)
        (call,) = await attempts.of(tx, template.id)
        entries = [
            one async for one in audit.entries(tx) if one.subject.startswith(f"request:{template.id}:")
        ]
    made = defaultdict[Table, list[dict[str, Any]]](list)
    async with world.store.begin() as tx:
        end = await audit.head(tx)
        seq, prev = end.seq, end.hash
        for number in range(count):
            by = tx.now - (count - number) * apart - template.created_at if apart else timedelta(0)
            one, word, again = _copied(tx, template, approval, call, f"{prefix}{number:08}", by)
            made[t.request].append(asdict(one))
            made[t.decision].append(asdict(word))
            made[t.attempt].append(asdict(again))
            said = _said(one, word, again)
            for entry in entries:
                at = entry.at + by
                body = json_text(json.loads(entry.body) | _of(said, json.loads(entry.body), one))
                version = entry.subject.rpartition(":")[2]
                texts = (
                    entry.actor,
                    entry.action,
                    f"request:{one.id}:{version}",
                    "ok",
                    "",
                    body,
                    entry.policy_version,
                )
                seq += 1
                digest = audit._hash(seq, (time_text(at), *texts), prev)
                row = dict[str, Any](zip(_TEXTS, texts, strict=True))
                row |= {"seq": seq, "at": at, "prev": prev, "hash": digest}
                made[t.audit].append({**row, "mac": tx.vault.mac("audit_mac", digest.encode())})
                prev = digest
            if number % _PIECE == _PIECE - 1 or number == count - 1:
                for table, rows in made.items():
                    await tx.run(insert(table), rows)
                made.clear()
        await tx.run(update(t.audit_head).values(seq=seq, hash=prev))


def _copied(
    tx: Tx, template: Request, approval: Decision, call: Attempt, called: str, by: timedelta
) -> tuple[Request, Decision, Attempt]:
    times = ("created_at", "expires_at", "approved_at", "valid_until", "first_sent_at", "finished_at")
    later = {name: getattr(template, name) + by for name in times}
    one = replace(template, id=called, key=f"key-{called}", **later)
    one = replace(one, digest=digest_of(tx.vault, one))
    word = replace(
        approval, id=f"D-{called}", request_id=called, digest=one.digest, decided_at=approval.decided_at + by
    )
    word = replace(word, mac=decisions.mac(tx.vault, word))
    answered_at = None if call.answered_at is None else call.answered_at + by
    again = replace(
        call, id=f"{called}.1", request_id=called, sent_at=call.sent_at + by, answered_at=answered_at
    )
    return one, word, again


def _said(one: Request, word: Decision, call: Attempt) -> Mapping[str, Any]:
    """What the entries of a request say of its rows, by the name that it has there."""
    return {
        "digest": one.digest,
        "mac": word.mac,
        "words": {word.id: fingerprints.of_words(word)},
        "call": fingerprints.of_call(call),
        "answer": fingerprints.of_answer(call),
        audit.ENDED: ["", fingerprints.of_end(one)],
    }


def _of(said: Mapping[str, Any], body: Mapping[str, Any], one: Request) -> dict[str, Any]:
    found = {name: value for name, value in said.items() if name in body}
    if "counts" in body:
        found["counts"] = {**body["counts"], "asked": time_text(one.created_at), "key": one.key}
    if "progress" in body:
        begun = {"pending": None, "approved": None}
        at = begun.get(body["state"], one.first_sent_at)
        outcome = one.outcome if body["state"] == one.state else None
        found["progress"] = fingerprints.of_progress(replace(one, first_sent_at=at, outcome=outcome))
    return found
