"""A page of another site, or of a name that somebody made lead here, acts as nobody in the stand-in."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest

from sandbox.slack.server import serve

MANIFEST = Path(__file__).parents[2] / "manifest.yml"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "OWN"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
        ({"Host": "evil.example"}, 403),
    ],
    ids=str,
)
async def test_only_the_stand_ins_own_page_and_programs_get_in(headers: dict[str, str], status: int) -> None:
    running = await serve(port=0, manifest_path=MANIFEST)
    try:
        sent = {name: running.url if value == "OWN" else value for name, value in headers.items()}
        async with aiohttp.ClientSession(running.url, headers=sent) as session:
            body = {"id": "U0DAVE", "name": "dave"}
            async with session.post("/_control/people", json=body) as answer:
                assert answer.status == status
            async with session.get("/") as answer:
                assert answer.status == status
            if status == 403:
                with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                    await session.ws_connect("/_control/live")
    finally:
        await running.close()
