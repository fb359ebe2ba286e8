"""Makes the environment that the Makefile's commands run in; does nothing when it is up to date.

`run` installs what the product needs, `test` also what its tests need. Standard library only, and
readable by an old Python, since it is the first thing that runs on a bare machine.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCKS = {"run": "requirements.txt", "test": "requirements-dev.txt"}
DEPLOY_CHECKS = {"promtool": "prometheus", "docker-compose": "docker-compose", "systemd-analyze": "systemd"}
# The first has no windows, and takes half as much processor time for a page; Debian has it, others only the second.
CHROMIUMS = ("chromium-headless-shell", "chromium")
GENERATED = ROOT / "tests" / "sandbox_partner" / "generated"
NODE_CHECKS = (ROOT / "tests" / "sandbox_slack" / "types", GENERATED / "typescript")
# Tools whose requirements do not go with the product's, so that they have a folder of their own.
CLIENT_GENERATOR = GENERATED / "python" / "requirements.txt"


def main(mode):
    """Bring the environment up to date for `mode` and return the exit code."""
    os.chdir(str(ROOT))
    try:
        make_venv()
        install(mode)
        if mode == "test":
            install_client_generator()
            install_browser_and_node()
    except subprocess.CalledProcessError as error:
        return complain("`{}` failed: its output above says why.".format(" ".join(map(str, error.cmd))))
    return 0


def make_venv():
    """Create .venv with the newest supported interpreter there is."""
    if PYTHON.exists() and (VENV / "bin" / "pip").exists():
        return
    say("Creating .venv")
    if subprocess.call([supported_python(), "-m", "venv", "--clear", str(VENV)]):
        sys.exit(
            complain(
                "This Python cannot make a virtual environment; on Debian: apt-get install python3-venv."
            )
        )


def supported_python():
    """This interpreter when it is 3.11 or newer, else a newer one on the PATH."""
    if sys.version_info >= (3, 11):
        return sys.executable
    for name in ("python3.14", "python3.13", "python3.12", "python3.11"):
        found = shutil.which(name)
        if found:
            return found
    found = ".".join(map(str, sys.version_info[:3]))
    return sys.exit(complain(f"Python 3.11 or newer is needed, this one is {found}: make PYTHON=/path/to/it"))


def install(mode):
    """Install the lock and the project, unless the same lock was installed before."""
    wanted = fingerprint(mode)
    stamp = VENV / f"installed-{mode}"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    say(f"Installing {LOCKS[mode]} (once; again only when it changes)")
    subprocess.check_call([*pip, "--require-hashes", "--requirement", LOCKS[mode]])
    subprocess.check_call([*pip, "--no-deps", "--no-build-isolation", "--editable", "."])
    subprocess.call([str(PYTHON), "-m", "compileall", "-q", "bot", "handlers", "storage", "sandbox"])
    stamp.write_text(wanted)
    if mode == "test":
        # The test lock holds the same pins as the run lock, and more.
        (VENV / "installed-run").write_text(fingerprint("run"))


def fingerprint(mode):
    """What the installed state depends on: the lock, the project's own metadata, the interpreter."""
    content = b"".join((ROOT / name).read_bytes() for name in (LOCKS[mode], "pyproject.toml"))
    return hashlib.sha256(content + str(VENV).encode()).hexdigest() + "\n"


def install_client_generator():
    """What makes a Python client of the simulator's description, for its test."""
    target = VENV / "client-generator"
    stamp, wanted = target / "installed", hashlib.sha256(CLIENT_GENERATOR.read_bytes()).hexdigest() + "\n"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say(f"Installing {CLIENT_GENERATOR.relative_to(ROOT)} (once)")
    shutil.rmtree(str(target), ignore_errors=True)
    pip = [
        str(PYTHON),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
        "--no-warn-conflicts",
    ]
    subprocess.check_call(
        [*pip, "--require-hashes", "--target", str(target), "--requirement", str(CLIENT_GENERATOR)]
    )
    stamp.write_text(wanted)


def install_browser_and_node():
    """Chromium, Node and the checks of deploy/ where apt may install them; npm packages where npm is.

    None of this fails the set-up: a suite that cannot run names itself at the end of the tests, and
    there CI=true makes it a failure.
    """
    wanted = []
    if not any(map(shutil.which, (*CHROMIUMS, "chromium-browser", "google-chrome"))):
        wanted.append("chromium")
    elif not shutil.which(CHROMIUMS[0]) and apt_has(CHROMIUMS[0]):
        wanted.append(CHROMIUMS[0])
    if not shutil.which("npm"):
        wanted += ["nodejs", "npm"]
    if not shutil.which("curl"):  # the recipes of the docs
        wanted.append("curl")
    if not any(map(shutil.which, ("cc", "gcc"))):  # for the disk that refuses to store
        wanted += ["gcc", "libc6-dev"]
    # They check what is in deploy/.
    wanted += [package for tool, package in DEPLOY_CHECKS.items() if not shutil.which(tool)]
    if wanted and os.geteuid() == 0 and shutil.which("apt-get"):
        say("Installing {} for the tests".format(" ".join(wanted)))
        quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        subprocess.call(["apt-get", "update", "-qq"], env=quiet)
        if "chromium" in wanted and apt_has(CHROMIUMS[0]):
            wanted[wanted.index("chromium")] = CHROMIUMS[0]
        subprocess.call(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *wanted],
            env=quiet,
            stdout=subprocess.DEVNULL,
        )
    for folder in NODE_CHECKS:
        install_npm_packages(folder)


def apt_has(package):
    """Whether apt can install it, by the lists it has."""
    shown = ["apt-cache", "--quiet", "--no-all-versions", "show", package]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return bool(shutil.which("apt-cache")) and subprocess.call(shown, **quiet) == 0


def install_npm_packages(folder):
    """What a folder's package-lock.json names, unless it is there."""
    lock = folder / "package-lock.json"
    stamp = folder / "node_modules" / ".package-lock.json"
    if (
        shutil.which("npm")
        and lock.exists()
        and (not stamp.exists() or stamp.stat().st_mtime < lock.stat().st_mtime)
    ):
        say(f"Installing the checks of {folder.relative_to(ROOT)}")
        subprocess.call(
            ["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=str(folder)
        )


def say(text):
    """Tell the person at the terminal what takes the time."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def complain(text):
    """One sentence on standard error; the exit code to end with."""
    sys.stderr.write(text + "\n")
    return 1


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in LOCKS:
        sys.exit("usage: setup.py run|test")
    sys.exit(main(sys.argv[1]))
