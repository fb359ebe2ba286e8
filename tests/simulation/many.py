"""Many seeds, shared by processes: one a core, each seed by one of them, their results in the order of the seeds."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.simulation.world import folder_in_memory, memory, take_over

T = TypeVar("T")
Work = Callable[[Any, Path], T]
"""Something done for one item, with a folder for its database."""

_folder: Path | None = None


def cores() -> int:
    """How many processes are worth it on this machine."""
    return len(os.sched_getaffinity(0))


@contextmanager
def done_by(processes: int, work: Work[T], items: Iterable[Any]) -> Iterator[Iterator[T]]:
    """`work` of each item, in their order, a few ahead of whoever reads. Ends its processes at the end, however."""
    if processes <= 1:
        folder = folder_in_memory()
        try:
            yield (work(item, folder) for item in items)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return
    with multiprocessing.get_context("fork").Pool(processes, _begin) as pool:
        try:
            yield pool.imap(_Done(work), items)
        finally:
            pool.terminate()
            for left in memory().glob(f"*-of-{os.getpid()}"):
                shutil.rmtree(left, ignore_errors=True)


class _Done:
    """What is sent to a process: the work, without its folder, which is the process's own."""

    def __init__(self, work: Work[Any]) -> None:
        self._work = work

    def __call__(self, item: Any) -> Any:
        assert _folder is not None
        return self._work(item, _folder)


def _begin() -> None:
    """In each process: an interrupt is for the one that started it; a folder of its own."""
    global _folder  # noqa: PLW0603 - one of each process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    take_over()
    _folder = folder_in_memory(f"-of-{os.getppid()}")
