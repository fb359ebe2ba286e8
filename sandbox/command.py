"""The command `countersign-sandbox`: both halves of the sandbox, for any bot and any client of the Partner API."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from sandbox.launching import CannotLaunch, Launch, Launched, PortTaken, launch
from sandbox.listening import AddressError, address_to_open, shown_host, warning_of
from sandbox.replay import NotReplayable, replay

MANIFEST = Path(__file__).parent / "slack" / "any_app.yml"
DONE, DIFFERENT, CANNOT = 0, 1, 2
_FIX = "Fix: countersign-sandbox --help\n"


def main(given: Sequence[str] | None = None) -> int:
    """Run until a signal. 0 after an end that was asked for, 2 when it cannot start as asked."""
    options = _parser().parse_args(given)
    if options.replay is not None:
        return asyncio.run(compare(options.replay))
    try:
        opened = address_to_open(options.host)
        if opened:
            sys.stderr.write(warning_of(opened) + "\n")
        return asyncio.run(_run(_launch_of(options, opened)))
    except (CannotLaunch, AddressError) as error:
        fix = "" if isinstance(error, CannotLaunch) and not error.about_options else _FIX
        sys.stderr.write(f"{error}\n{fix}")
    except PortTaken as taken:
        why = "needs more rights" if taken.error.errno == errno.EACCES else "is in use"
        sys.stderr.write(f"Port {taken.port} {why}.\nFix: choose another with --{taken.half}-port\n")
    return CANNOT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="countersign-sandbox", description=__doc__)
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="one more address to listen on; 127.0.0.1 by default, 0.0.0.0 is every one",
    )
    parser.add_argument(
        "--name",
        dest="names",
        action="append",
        default=[],
        help="a host name by which it may be called, such as a compose service; may be repeated",
    )
    parser.add_argument(
        "--slack-port",
        type=int,
        default=8400,
        help="Slack stand-in; 8400 by default, 0 = off, -1 = any free one",
    )
    parser.add_argument(
        "--partner-port",
        type=int,
        default=8401,
        help="Partner API; 8401 by default, 0 = off, -1 = any free one",
    )
    parser.add_argument("--key", help="an API key to accept; it begins with svc_live_00000000")
    parser.add_argument("--seed", help="fixes ids, tokens and the key")
    parser.add_argument("--state", type=Path, help="keep the state beside this name, over a restart")
    parser.add_argument(
        "--manifest",
        type=Path,
        default=MANIFEST,
        help="the app's manifest, YAML or JSON; by default one without commands and shortcuts",
    )
    parser.add_argument("--people", type=Path, help="the people and user groups, YAML or JSON")
    parser.add_argument("--channels", type=Path, help="the channels, YAML or JSON")
    parser.add_argument(
        "--request-url", help="deliver over signed HTTP to this address instead of Socket Mode"
    )
    parser.add_argument(
        "--ready-file", type=Path, help="gets addresses and tokens as JSON once everything listens"
    )
    parser.add_argument(
        "--scenario", help="what new state of the partner simulator begins with, by name or as a file"
    )
    parser.add_argument(
        "--replay",
        type=Path,
        metavar="HAR",
        help="play an HTTP archive, print what is answered otherwise, and end",
    )
    return parser


async def compare(path: Path) -> int:
    """Play an archive and print the differences. 0 for none, 1 for some, 2 for a file that cannot be played."""
    try:
        done = await replay(path)
    except NotReplayable as error:
        sys.stderr.write(f"{error}.\nFix: give a file made by GET /_control/journal.har\n")
        return CANNOT
    for one in done.differences:
        sys.stdout.write(f"{one}\n")
    sys.stdout.write(f"{done.compared} calls compared, {len(done.differences)} differences.\n")
    return DIFFERENT if done.differences else DONE


def _launch_of(options: argparse.Namespace, opened: str) -> Launch:
    chosen = {name: value for name, value in vars(options).items() if name not in ("host", "replay")}
    return Launch(**chosen, open_to=opened)


async def _run(options: Launch) -> int:
    running = await launch(options)
    sys.stdout.write("\n".join(lines(running, kept=options.state is not None)) + "\n")
    sys.stdout.flush()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, ended.set)
    await ended.wait()
    await running.close()
    return DONE


def lines(running: Launched, *, kept: bool = False) -> list[str]:
    """What a person reads at the start: addresses, tokens, the key, and what the app declared and will not get.

    `kept` says that the state outlives the end.
    """
    titles = {"slack": "Slack stand-in", "partner": "Partner simulator"}
    shown: list[str] = []
    for half, facts in running.facts().items():
        port = facts["url"].rpartition(":")[2]
        shown.append(f"{titles[half]:<18}  http://{shown_host(running.open_to)}:{port}")
        width = max(len(name) for name in facts) + 2
        shown += [f"  {name:<{width}}{value}" for name, value in facts.items() if name != "url"]
    closing = "Open an address in a browser. " + ("" if kept else "Nothing is kept. ") + "Ctrl-C ends it."
    return [*shown, *(f"Warning: {one}" for one in running.warnings), closing]


if __name__ == "__main__":
    sys.exit(main())
