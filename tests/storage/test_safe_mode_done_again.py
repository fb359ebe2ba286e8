"""What safe mode does at its start may be done once more: after a crash, by another process, by a newer version whose
older one noted elsewhere that it was done. Nothing is other than if it had been done once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.people import KindPolicy
from bot.services.operators import otp_recipients, safe_mode
from storage import audit
from storage.operators import safe_mode as rows
from storage.requests import confirmations, requests
from tests.services.bulk_requests import a_list, ask_bulk
from tests.services.outcome_steps import open_alerts
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, CAROL, World, a_policy, a_world

pytestmark = pytest.mark.by_turns(2)

Body = Mapping[str, Any]


def _as_now(head: int, head_at: datetime, now: datetime) -> Body:
    times = {"head_at": head_at.isoformat(), "anchor_at": now.isoformat()}
    return {"head": head, "anchor": head + 4, "lost": [], **times}


def _without_times(head: int, _head_at: datetime, _now: datetime) -> Body:
    return {"head": head, "anchor": head + 4}


#: What the entry says with which safe mode began, by version.
FORMS = {"as now": _as_now, "of before 0019": _without_times}


async def _seen(world: World, ids: list[str]) -> dict[str, Any]:
    """What people read, and what is known of each request."""
    async with world.store.read() as tx:
        mode = await rows.current(tx)
        assert mode is not None
        assert mode.voided is not None
        found = [await requests.get(tx, one) for one in ids]
        asked = [one.subject for one in await confirmations.open_ones(tx)]
    (alert,) = [one for one in await open_alerts(world) if one.kind == "older_copy"]
    text = alert.text.replace(f"entry {mode.head_seq}", "entry 1").replace(f"is {mode.anchor_seq}", "is 5")
    states = [(one.state, one.outcome_unknown, one.key_expires_at, one.outcome_text) for one in found if one]
    return {
        "requests": states,
        "asked": asked,
        "text": text,
        "voided": mode.voided,
        "head": mode.head_at,
    }


async def _story(
    folder: Path, url: str, monkeypatch: pytest.MonkeyPatch, form: str, *, again: bool
) -> dict[str, Any]:
    """Two requests and a list are approved and wait, one is pending; safe mode, and more is asked for in it."""
    policy = replace(
        a_policy(), kinds={"card_topup": KindPolicy(cool_off=timedelta(hours=2))}, version="again"
    )
    async with a_world(folder, url=url, policy=policy) as world:
        made = [await world.top_up("5"), await world.top_up("6", card=1)]
        whole = await ask_bulk(world, a_list(world, "10", "20"))
        await world.approve(whole)
        made += [whole, await world.top_up("7", approved=False, card=2)]
        await otp_recipients.ask(world.core, CAROL, "emp-1042", ALICE)
        async with world.store.read() as tx:
            head = (await audit.head(tx)).seq
        head_at = world.clock.now()
        await world.advance(600)
        body = FORMS[form](head, head_at, world.clock.now())
        async with world.store.begin() as tx:
            await audit.append(tx, actor=rows.ACTOR, action=rows.RESTORED, subject="database", body=body)
        with monkeypatch.context() as patched:

            async def not_noted(*_: Any) -> bool:
                return False

            if again:
                patched.setattr(rows, "note_voided", not_noted)
                patched.setattr(safe_mode, "review", not_noted)
            await safe_mode.at_start(world.core)
        await world.advance(60)
        made.append(await world.top_up("8", approved=False))
        made.append(await ask_bulk(world, a_list(world, "1", "2")))
        await otp_recipients.ask(world.core, CAROL, "emp-77", ALICE)
        await world.advance(60)
        world.rebuild()
        await safe_mode.at_start(world.core)
        return await _seen(world, [one.id for one in made])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_what_is_done_again_changes_nothing(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    (tmp_path / "once").mkdir()
    once = await _story(tmp_path / "once", "", monkeypatch, "as now", again=False)
    again = await _story(tmp_path, url, monkeypatch, form, again=True)

    if form == "of before 0019":  # it did not say when the newest entry that is known was made
        once["text"] = re.sub(r"(newest one known is \d+) of [\d: -]+ UTC", r"\1", once["text"])
    assert again == once
    assert once["voided"] == 3
    assert once["asked"] == ["emp-77"]
