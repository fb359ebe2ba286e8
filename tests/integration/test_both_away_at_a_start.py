"""The card provider and Slack are both away when a process starts: the page says it within a minute, and nobody has to
restart anything. All of them are processes of their own."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.support.waiting import eventually
from tests.troubles.surroundings import Surroundings, surroundings

#: Within which somebody has to be able to read what is wrong.
SAID_WITHIN_S = 60.0


async def _page(around: Surroundings) -> dict[str, str]:
    """What /readyz says of each check; nothing while it does not answer."""
    with suppress(httpx.HTTPError):
        async with httpx.AsyncClient(trust_env=False, timeout=10) as web:
            found: dict[str, str] = (await web.get(f"{around.url}/readyz")).json()["checks"]
            return found
    return {}


async def _held(around: Surroundings) -> str:
    with suppress(httpx.HTTPError):
        async with httpx.AsyncClient(trust_env=False, timeout=10) as web:
            shown = (await web.get(f"{around.metrics_url}/metrics")).text
        return next(
            line.rsplit(" ", 1)[1]
            for line in shown.splitlines()
            if line.startswith("countersign_held_since_start{")
        )
    return ""


def _stand_still(around: Surroundings, sent: signal.Signals) -> None:
    for process in (around.slack, around.partner):
        process.send_signal(sent)


@pytest.mark.timeout(240)
async def test_with_both_away_at_a_start_the_page_says_so_within_a_minute_and_it_recovers_by_itself(
    tmp_path: Path,
) -> None:
    async with surroundings(tmp_path) as around:
        await around.start()
        await around.end()
        _stand_still(around, signal.SIGSTOP)
        try:
            began = asyncio.get_running_loop().time()
            await around.start(wait=False)

            async def is_said() -> dict[str, str]:
                found = await _page(around)
                wrong = {name: text for name, text in found.items() if text != "ok"}
                return wrong if any("could not read" in text for text in wrong.values()) else {}

            wrong = await eventually("the page says it", is_said, within_s=SAID_WITHIN_S, every_s=1)
            print(f"\nafter {asyncio.get_running_loop().time() - began:.0f} s: {wrong}")
            said = " ".join(wrong.values())
            assert "its ledger and the messages in Slack" in said

            async def is_measured() -> bool:
                return await _held(around) == "1.0"

            await eventually("the metric says it", is_measured, within_s=20, every_s=1)
            log = around.log.read_text()
            assert "copy_detection.ledgers_not_seen" in log
            assert "copy_detection.slack_not_read" in log

            async def is_unanswered() -> bool:
                return "Your card provider does not answer" in " ".join((await _page(around)).values())

            left_s = SAID_WITHIN_S - (asyncio.get_running_loop().time() - began)
            await eventually("the API is named, too", is_unanswered, within_s=left_s, every_s=1)
        finally:
            _stand_still(around, signal.SIGCONT)
        bot = around.bot

        async def is_well() -> bool:
            found = await _page(around)
            return bool(found) and set(found.values()) == {"ok"} and await _held(around) == "0.0"

        await eventually("it goes on by itself", is_well, within_s=90, every_s=1)
        assert bot is not None
        assert bot.returncode is None, "nobody restarted it"
