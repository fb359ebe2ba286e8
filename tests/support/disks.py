"""Small file systems of a test's own, to be filled up or made read-only. Only root may make them."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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
def immutable(*files: Path) -> Iterator[None]:
    """Nobody may write them, root neither. Skips where files cannot be made so."""
    if subprocess.run(["chattr", "+i", *files], capture_output=True, check=False).returncode:
        pytest.skip("full and read-only disks: no file can be made immutable here")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", *files], check=True)


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


@dataclass(frozen=True, slots=True)
class BreakingDisk:
    """A file system on a disk that can report an error, whereupon Linux lets nobody write on it any more."""

    folder: Path
    image: Path

    def mount(self) -> None:
        mount("-o", "loop,errors=remount-ro", str(self.image), str(self.folder))

    def fail(self) -> None:
        """From now on it can only be read, by those who have files open on it, too."""
        found = subprocess.run(
            ["findmnt", "-no", "SOURCE", self.folder], check=True, capture_output=True, text=True
        )
        Path("/sys/fs/ext4", Path(found.stdout.strip()).name, "trigger_fs_error").write_text("1")

    def repair(self) -> None:
        """While nobody uses it."""
        subprocess.run(["umount", self.folder], check=True, capture_output=True)
        subprocess.run(["e2fsck", "-fy", self.image], check=False, capture_output=True)
        self.mount()


@contextmanager
def a_breaking_disk(megabytes: int = 48) -> Iterator[BreakingDisk]:
    """Skips where this user may not mount a file system."""
    folder = Path(tempfile.mkdtemp(prefix="csdisk"))
    disk = BreakingDisk(folder, folder.with_suffix(".img"))
    try:
        with disk.image.open("wb") as image:
            image.truncate(megabytes * 1024 * 1024)
        subprocess.run(["mkfs.ext4", "-qF", disk.image], check=True, capture_output=True)
        disk.mount()
    except (OSError, subprocess.CalledProcessError):
        disk.image.unlink(missing_ok=True)
        pytest.skip("disks that break: this user may not mount a file system")
    try:
        yield disk
    finally:
        unmount(folder)
        disk.image.unlink()
        with suppress(OSError):
            folder.rmdir()
