"""Reads the master key from where the environment says it is: a file, the output of a command, or the variable."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.config.problems import SettingsError
from bot.partner.secret import Secret

# Names of variables that hold tokens and keys of ours.
_OURS = ("SLACK_", "COUNTERSIGN_")
# A key service that takes longer than this is down, and the start must say so rather than hang.
COMMAND_TIMEOUT_S = 10
_PATH_FIX = "Correct the path, or give the file to the user that Countersign runs as."
_COMMAND_FIX = "Run it by hand, as the user that Countersign runs as, to see why."


@dataclass(frozen=True, slots=True)
class MasterKeySource:
    """Where the keyring comes from: a file, the output of a command, or the variable itself."""

    name: str
    value: Secret

    def read(self) -> Secret:
        """The keyring's text. Raises `SettingsError`, which says what to change."""
        if self.name == "COUNTERSIGN_MASTER_KEY_FILE":
            return self._from_file(Path(self.value.reveal()))
        if self.name == "COUNTERSIGN_MASTER_KEY_COMMAND":
            return self._from_command(shlex.split(self.value.reveal()))
        return Secret("\n".join(self.value.reveal().split()))

    def _from_file(self, path: Path) -> Secret:
        try:
            mode = path.stat().st_mode
            if not stat.S_ISREG(mode):
                raise SettingsError([f"{self.name}: {path} is not a file."])
            if stat.S_IMODE(mode) & 0o177:
                raise SettingsError(
                    [f"{self.name}: {path} may be read by others; only its owner may: chmod 600 {path}"]
                )
            return Secret(path.read_text(encoding="ascii"))
        except OSError as error:
            raise SettingsError(
                [f"{self.name}: {path} cannot be read ({error.strerror}). {_PATH_FIX}"]
            ) from None
        except UnicodeDecodeError:
            raise SettingsError([f"{self.name}: {path} is not a keyring: one base64 key a line."]) from None

    def _from_command(self, argv: list[str]) -> Secret:
        try:
            # The operator's own command, as an argument vector: no shell reads it.
            done = subprocess.run(  # noqa: S603
                argv,
                stdout=subprocess.PIPE,
                timeout=COMMAND_TIMEOUT_S,
                check=False,
                stdin=subprocess.DEVNULL,
                env=_without_secrets(os.environ),
            )
        except subprocess.TimeoutExpired:
            sentence = (
                f"{self.name}: {argv[0]} did not end within {COMMAND_TIMEOUT_S} seconds. {_COMMAND_FIX}"
            )
            raise SettingsError([sentence]) from None
        except OSError as error:
            raise SettingsError(
                [f"{self.name}: {argv[0]} cannot be run ({error.strerror}). {_COMMAND_FIX}"]
            ) from None
        if done.returncode:
            raise SettingsError(
                [f"{self.name}: {argv[0]} ended with code {done.returncode}, printing no key. {_COMMAND_FIX}"]
            )
        try:
            return Secret(done.stdout.decode("ascii"))
        except UnicodeDecodeError:
            raise SettingsError(
                [f"{self.name}: {argv[0]} printed no keyring: one base64 key a line."]
            ) from None


def _without_secrets(env: Mapping[str, str]) -> dict[str, str]:
    """What a command may see of our environment: no token and no key, which are not its business."""
    return {name: value for name, value in env.items() if not name.startswith(_OURS)}
