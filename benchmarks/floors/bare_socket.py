"""The floor for acks: connects in Socket Mode and answers every envelope at once, with nothing in it."""

from __future__ import annotations

import asyncio
import json
import sys

import aiohttp


async def answer(api_url: str, app_token: str) -> None:
    """Until the other side closes."""
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {app_token}"}) as session:
        async with session.post(f"{api_url}apps.connections.open") as opened:
            url = (await opened.json())["url"]
        async with session.ws_connect(url) as socket:
            async for frame in socket:
                envelope_id = json.loads(frame.data).get("envelope_id")
                if envelope_id:
                    await socket.send_str(json.dumps({"envelope_id": envelope_id}))


if __name__ == "__main__":
    asyncio.run(answer(sys.argv[1], sys.argv[2]))
