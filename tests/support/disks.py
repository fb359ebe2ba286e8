"""Small file systems of a test's own, to be filled up or made read-only. Only root may make them."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


def unmount(folder: Path) -> None:
    subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)


def fill(path: Path) -> None:
    """Write a file until the disk is full."""
    subprocess.run(["dd", "if=/dev/zero", f"of={path}", "bs=64k"], capture_output=True, check=False)


@contextmanager
def a_small_disk(megabytes: int = 6) -> Iterator[Path]:
    """Skips where this user may not mount a file system."""
    # Not in a folder of pytest's: one that is left over by a killed test could not be cleaned up there.
    folder = Path(tempfile.mkdtemp(prefix="csdisk"))
    try:
        mount("-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder))
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("full and read-only disks: this user may not mount a file system")
    try:
        yield folder
    finally:
        unmount(folder)
        with suppress(OSError):
            folder.rmdir()
