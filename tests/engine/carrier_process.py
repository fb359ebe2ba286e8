"""A carrier in a process of its own, to be killed or stopped: `python -m tests.engine.carrier_process ADDRESS FOLDER`.

What is due are the files in FOLDER/due, and what it began is written to FOLDER/begun. It ends nothing that begins with
"R-hangs", and removes the file of everything else.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bot.engine.distributed import Distributed
from bot.engine.embedded import Embedded

QUEUE = "money:main"


async def main(address: str, folder: Path) -> None:
    carrier = Distributed(address, {QUEUE: 2}, sweep_every_s=0.3) if address else Embedded(sweep_every_s=0.3)

    async def due(but_not: Collection[str]) -> list[Any]:
        ids = sorted(file.name for file in (folder / "due").iterdir() if file.name not in but_not)
        return [SimpleNamespace(name=QUEUE, ids=ids, at_once=2)]

    async def execute(id_: str) -> None:
        (folder / "begun" / id_).touch()
        if id_.startswith("R-hangs"):
            await asyncio.Event().wait()
        (folder / "due" / id_).unlink(missing_ok=True)

    await carrier.run(due, execute)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
