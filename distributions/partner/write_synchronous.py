"""Writes `added/synchronous.py`: a method that waits for each one of PartnerClient that is awaited or walked.

Run it where a call of the client changed: `python distributions/partner/write_synchronous.py`. A test holds the file
to what this writes.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
CALLS = HERE.parents[1] / "bot" / "partner" / "calls"
WRITTEN = HERE / "added" / "synchronous.py"
CHAPTERS = ("account", "cards", "history", "events", "deposits")

HEAD = '''"""SyncPartnerClient: the calls of PartnerClient without an event loop. Written by write_synchronous.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, Self, overload

import httpx
from countersign_partner import models
from countersign_partner.background import Background
from countersign_partner.calls import pages
from countersign_partner.client import PartnerClient
from countersign_partner.clock import Clock
from countersign_partner.ratelimit import Lane, RateLimiter
from countersign_partner.secret import Secret


class SyncPartnerClient:
    """The Partner API as one program's key sees it; each method waits for the answer.

    Takes what PartnerClient takes, and raises what it raises. The calls run in a thread of its own, so it may be
    shared by several threads. `with` ends it; `close` closes a card.
    """

    def __init__(
        self,
        base_url: str,
        key: Secret | str,
        *,
        limiter: RateLimiter | None = None,
        clock: Clock | None = None,
        http: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._client = PartnerClient(base_url, key, limiter=limiter, clock=clock, http=http)
        self._background = Background()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_connections()

    def close_connections(self) -> None:
        """Close the connections and end the thread."""
        self._background.run(self._client.aclose())
        self._background.close()

    @property
    def key_prefix(self) -> str:
        """The part of the key that may be shown."""
        return self._client.key_prefix

    @property
    def budget_left(self) -> int:
        """How many calls the key's minute still has room for."""
        return self._client.budget_left
'''


def written() -> str:
    """The whole module, formatted."""
    methods = [synchronous(method) for chapter in CHAPTERS for method in asynchronous(chapter)]
    text = "\n".join([HEAD, *methods])
    done = subprocess.run(  # noqa: S603 - the formatter of this environment
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(WRITTEN), "-"],
        input=text, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def asynchronous(chapter: str) -> Iterator[ast.AsyncFunctionDef]:
    """The public methods of a chapter that are awaited or walked, their overloads included."""
    tree = ast.parse((CALLS / f"{chapter}.py").read_text(encoding="utf-8"))
    for found in tree.body:
        if isinstance(found, ast.ClassDef):
            for node in found.body:
                if isinstance(node, ast.AsyncFunctionDef) and not node.name.startswith("_"):
                    yield node


def synchronous(method: ast.AsyncFunctionDef) -> str:
    """The method that waits, with the same arguments and docstring."""
    returns = ast.unparse(method.returns) if method.returns else "None"
    walked = returns.startswith("AsyncIterator[")
    head = f"    def {method.name}({ast.unparse(method.args)}) -> {returns.removeprefix('Async')}:"
    if method.decorator_list:
        return f"    @overload\n{head} ...\n"
    named = [f"{one.arg}={one.arg}" for one in method.args.kwonlyargs]
    given = ", ".join([one.arg for one in method.args.args if one.arg != "self"] + named)
    run = "rows" if walked else "run"
    overloaded = any(one.arg == "body" and "None" in ast.unparse(one) for one in method.args.args)
    documented = ast.get_docstring(method, clean=False) or ""
    if overloaded:  # what it takes was checked by the overloads above it
        call = (
            f"        send: Any = self._client.{method.name}\n"
            f"        found: {returns} = self._background.run(send({given}))\n"
            "        return found\n"
        )
    else:
        call = f"        return self._background.{run}(self._client.{method.name}({given}))\n"
    return f'{head}\n        """{documented}"""\n{call}'


if __name__ == "__main__":
    WRITTEN.write_text(written(), encoding="utf-8")
