"""Print the locked dependencies as a CycloneDX 1.5 document: `python .ci/sbom.py requirements.txt`.

From the lock alone, standard library only, so that it can be made without installing anything.
"""

import json
import re
import sys
from pathlib import Path

LOCKED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==([^\s;\\]+)")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def components(lock):
    """Name, version, package URL and SHA-256 of each file, in the order of the lock."""
    found = []
    for line in lock.splitlines():
        locked = LOCKED.match(line)
        if locked:
            name, version = re.sub(r"[-_.]+", "-", locked[1]).lower(), locked[2]
            purl = f"pkg:pypi/{name}@{version}"
            found.append(
                {
                    "type": "library",
                    "bom-ref": purl,
                    "name": name,
                    "version": version,
                    "purl": purl,
                    "hashes": [],
                }
            )
        for digest in HASH.findall(line):
            found[-1]["hashes"].append({"alg": "SHA-256", "content": digest})
    return found


def document(lock):
    """The whole document; the same for the same lock."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "countersign", "bom-ref": "countersign"}},
        "components": components(lock),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(document(Path(sys.argv[1]).read_text(encoding="utf-8")), indent=1) + "\n")
