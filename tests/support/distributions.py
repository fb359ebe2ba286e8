"""The distributions of this repository as somebody else has them: built, laid out, and nothing beside them but what
they say they need."""

import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
DISTRIBUTIONS = ROOT / "distributions"


def python(*given: str, cwd: Path, timeout: float = 150) -> str:
    """What a Python process without this checkout says."""
    done = subprocess.run(
        [sys.executable, *given],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def unpacked(name: str, folder: Path) -> Path:
    """The content of the wheel of `distributions/<name>`, built now, as pip would lay it out."""
    build = f"import renamed_package; print(renamed_package.build_wheel({str(folder)!r}))"
    wheel_name = python("-c", build, cwd=DISTRIBUTIONS / name).split()[-1]
    with zipfile.ZipFile(folder / wheel_name) as wheel:
        wheel.extractall(folder / "installed")
    return folder / "installed"


def bare_environment(installed: Path, folder: Path, *more: str) -> Path:
    """A folder with what the laid out distributions require, and `more`, with what those require, and nothing else."""
    wanted = [Requirement(one) for one in more]
    for dist in metadata.distributions(path=[str(installed)]):
        wanted += [Requirement(text) for text in dist.requires or ()]
    folder.mkdir()
    known: set[str] = set()
    while wanted:
        needed = wanted.pop()
        if needed.name in known or (needed.marker and not needed.marker.evaluate({"extra": ""})):
            continue
        known.add(needed.name)
        dist = metadata.distribution(needed.name)
        assert needed.specifier.contains(dist.version, prereleases=True), (needed, dist.version)
        wanted += [Requirement(text) for text in dist.requires or ()]
        for top in {Path(str(file)).parts[0] for file in dist.files or ()} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(str(dist.locate_file(top)))
    return folder


def used_alone(script: str, installed: Path, bare: Path, folder: Path, timeout: float = 150) -> str:
    """What a script says that sees the standard library, the laid out distributions and the bare environment alone."""
    path = folder / "use.py"
    standard = "sys.path[1:]"  # `-I -S`: the folder of the script is first, then the standard library
    path.write_text(
        f"import sys\nsys.path[:] = [{str(installed)!r}, *{standard}, {str(bare)!r}]\n{script}",
        encoding="utf-8",
    )
    return python("-I", "-S", str(path), cwd=folder, timeout=timeout)
