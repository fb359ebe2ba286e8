"""Where a half of the sandbox listens: on loopback, and on an address for other machines where somebody asks for it."""

from __future__ import annotations

from aiohttp import web

EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 - only where somebody asks for it


async def listen(runner: web.AppRunner, host: str, port: int, open_to: str = "") -> int:
    """The port that it listens on, a free one for 0.

    `open_to` is one more address beside `host`, on the same port; `EVERY_ADDRESS` stands for both. Raises OSError when
    the port is taken; nothing listens then.
    """
    await runner.setup()
    try:
        await web.TCPSite(runner, EVERY_ADDRESS if open_to == EVERY_ADDRESS else host, port).start()
        port = int(runner.addresses[0][1])
        if open_to not in ("", EVERY_ADDRESS):
            await web.TCPSite(runner, open_to, port).start()
    except OSError:
        await runner.cleanup()
        raise
    return port
