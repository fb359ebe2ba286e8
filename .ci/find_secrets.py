"""Search the tracked files for what looks like a secret; exit 1 and name file and line where there is one.

Made-up ones of tests and docs are told by what is in them: see `MADE_UP`.
"""

import re
import subprocess
import sys
from pathlib import Path

FORMS = {
    "a Slack token": re.compile(r"\bxox[abposr]-[0-9A-Za-z]{8,}-[0-9A-Za-z-]{16,}"),
    "a Slack app token": re.compile(r"\bxapp-\d-[A-Z0-9]{8,}-\d{8,}-[0-9a-f]{32,}"),
    "a live API key": re.compile(r"\bsvc_live_(?!0{8})[0-9A-Za-z]{24,}"),
    "a webhook secret": re.compile(r"\bwhsec_[0-9A-Za-z+/_-]{32,}"),
    "a private key": re.compile(r"-----BEGIN (?:RSA |EC |OPENSSH )?PRIVATE KEY-----"),
    "a cloud key": re.compile(r"\bAKIA[0-9A-Z]{16}\b|\bghp_[0-9A-Za-z]{36}\b|\bgithub_pat_[0-9A-Za-z_]{60,}"),
}
MADE_UP = re.compile(r"(?i)example|sandbox|test|fake|planted|canary|0123456789|abcdef|x{8}|(.)\1{7}")
BINARY = (".png", ".svg", ".gz", ".zip", ".woff2", ".jsonl")


def secrets_in(text):
    """What looks like a secret, with its line, one after the other."""
    for number, line in enumerate(text.splitlines(), start=1):
        for what, form in FORMS.items():
            found = form.search(line)
            if found and not MADE_UP.search(found[0]):
                yield number, what


def main():
    names = (
        subprocess.run(["git", "ls-files", "-z"], stdout=subprocess.PIPE, check=True)
        .stdout.decode()
        .split("\0")
    )
    wrong = []
    for name in filter(None, names):
        path = Path(name)
        if path.is_symlink() or not path.is_file() or name.endswith(BINARY):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        wrong += [f"{name}:{number}: this looks like {what}" for number, what in secrets_in(text)]
    sys.stdout.write("\n".join(wrong or ["No secret in the tracked files."]) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
