"""The end of a whole bot, with a call under way or none, and a place for anchors that is slow or away: it ends in its
time, and says of a place that it lacks the last anchor where that is so, and only there."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from bot import app
from bot.cli import serving
from bot.domain.requests import Request, State
from bot.services import people
from bot.services.alerts import ledger_rules
from bot.services.core import Core
from bot.services.requests import approvals, lifecycle
from storage import audit as chain
from storage.requests import requests as request_rows
from tests.integration.surroundings import Surroundings
from tests.integration.test_copies_without_anchors import asked
from tests.support import posting
from tests.support.waiting import eventually

pytestmark = [pytest.mark.usefixtures("first_readings_come_soon"), pytest.mark.by_turns(2)]

# As the real ones are to each other, but shorter.
DRAIN_S, LAST_ANCHOR_BY_S, SHUTDOWN_S = 1.0, 2.0, 3.5
TAKES_S = {"fast": 0.0, "slow": 0.6, "away": 60.0}


def _place(folder: Path, takes_s: float) -> tuple[Path, Path, Path]:
    """A command, what it keeps, and what makes it take its time once it is there."""
    command, kept, is_slow = folder / "place", folder / "kept", folder / "slow"
    command.write_text(
        f"""#!/bin/sh
if [ "$1" = read ]; then cat {kept} 2>/dev/null; exit 0; fi
line=$(cat)
[ -f {is_slow} ] && sleep {takes_s}
echo "$line" >> {kept}
"""
    )
    command.chmod(0o755)
    return command, kept, is_slow


async def _runs(core: Core, request: Request) -> bool:
    async with core.store.read() as tx:
        found = await request_rows.get(tx, request.id)
        return found is not None and found.state is State.EXECUTING


@pytest.mark.parametrize("place", TAKES_S)
@pytest.mark.parametrize("api", ["answers", "hangs"])
async def test_it_ends_in_its_time_and_names_a_place_where_it_lacks_the_last_anchor(
    around: Surroundings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    api: str,
    place: str,
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(app, "DRAIN_S", DRAIN_S)
    monkeypatch.setattr(app, "LAST_ANCHOR_BY_S", LAST_ANCHOR_BY_S)
    monkeypatch.setattr(serving, "SHUTDOWN_S", SHUTDOWN_S)
    command, kept, is_slow = _place(tmp_path, TAKES_S[place])
    running = await around.start(COUNTERSIGN_ANCHORS_COMMAND=str(command))
    core = running.core
    await eventually("the ledger is read", lambda: ledger_rules.is_begun(core, "main"), within_s=30)
    to_send, to_stop = await asked(running), await asked(running)
    await people.require_member(core, "U0BOB", action="test")
    for request in (to_send, to_stop):
        await posting.post(core, request.id)
    if api == "hangs":
        fault = {"operation": "POST /cards/{cardId}/topup", "effect": "hang", "seconds": 60, "times": 99}
        async with httpx.AsyncClient(base_url=around.partner.url, trust_env=False) as web:
            assert (await web.post("/_control/faults", json=fault)).is_success
        await approvals.approve(core, to_send.id, "U0BOB", shown_digest=to_send.digest)
        await eventually("it is sent", lambda: _runs(core, to_send))
    is_slow.touch()
    await lifecycle.cancel(core, to_stop.id, "U0ALICE")
    await asyncio.sleep(0.2)

    ending = AsyncExitStack()
    ending.push_async_callback(running.stop)
    await serving._close(ending)

    last = [vars(one)["seq"] for one in caplog.records if one.msg == "audit.anchor"][-1]
    lines = kept.read_text().splitlines() if kept.exists() else []
    has = [chain.Anchor.from_line(line).seq for line in lines]
    named = [vars(one)["places"] for one in caplog.records if one.msg == "audit.no_last_anchor"]
    assert (last in has) is (place != "away")
    assert named == ([] if last in has else [[str(command)]])
    assert len(has) == len(set(has)), "what it has is not written again"
