"""The container image, built as the installation page says and run: what is in it, how large it is, what answers.

Needs root, buildah, and the base that the Dockerfile names; where that is missing it is made with debootstrap, as no
registry is asked. The image is built without a daemon, and its containers share the network of this machine.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.ports import free_ports

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text()
IMAGE = "localhost/countersign-under-test"
ADDS_LESS_THAN = 110_000_000
NOT_IN_IT = ("pip", "setuptools", "pygments")
PACKAGES_OF_THE_BASE = "python3,python3-venv,python-is-python3,ca-certificates,netbase,tzdata"
ENV = {**os.environ, "BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs"}


def buildah(*words: str, within_s: int = 120) -> str:
    done = subprocess.run(["buildah", *words], env=ENV, capture_output=True, text=True, timeout=within_s)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def bases() -> list[str]:
    return re.findall(r"^FROM (\S+)", TEXT, re.MULTILINE)


def make_base(name: str, folder: Path) -> None:
    """A base of that name from packages of Debian, or a skip that says why not."""
    if shutil.which("debootstrap") is None:
        pytest.skip("the base image is not here and debootstrap, which could make it, neither")
    sources = Path("/etc/apt/sources.list.d/debian.sources")
    mirror = re.search(r"^URIs: (\S+)", sources.read_text() if sources.exists() else "", re.MULTILINE)
    words = ["debootstrap", "--variant=minbase", f"--include={PACKAGES_OF_THE_BASE}", "bookworm", str(folder)]
    done = subprocess.run([*words, *([mirror[1]] if mirror else [])], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"debootstrap could not make the base: {done.stdout[-300:]}")
    container = buildah("from", "scratch").strip()
    buildah("add", "--quiet", container, str(folder), "/", within_s=600)
    buildah("commit", "--quiet", container, f"localhost/{name}", within_s=600)
    buildah("rm", container)


def wheels(folder: Path) -> str:
    """What the lock names, for a build that needs no index; the options of the build that lead there."""
    folder.mkdir()
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes", "--no-deps"]
    subprocess.run([*pip, "-r", ROOT / "requirements.txt", "-d", folder], check=True, capture_output=True)
    (folder / "pip.conf").write_text("[global]\nno-index = true\nfind-links = /wheels\n")
    return str(folder)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of the image, built once."""
    if shutil.which("buildah") is None:
        pytest.skip("buildah is not here; apt has it")
    if os.geteuid() != 0:
        pytest.skip("buildah without a daemon needs root here")
    folder = tmp_path_factory.mktemp("image")
    (base,) = set(bases())
    if f"/{base}\n" not in buildah("images", "--format", "{{.Name}}:{{.Tag}}") + "\n":
        make_base(base, folder / "rootfs")
    offline = wheels(folder / "wheels")
    volumes = ("--volume", f"{offline}:/wheels:ro", "--volume", f"{offline}/pip.conf:/etc/pip.conf:ro")
    buildah("bud", "--pull-never", "--layers=false", *volumes, "--tag", IMAGE, str(ROOT), within_s=1200)
    return IMAGE


@contextmanager
def container(image: str) -> Iterator[str]:
    name = buildah("from", "--pull-never", image).strip()
    try:
        yield name
    finally:
        buildah("rm", name)


@contextmanager
def running(name: str, *words: str) -> Iterator[str]:
    """A command of the image that goes on; what it printed until it was ready."""
    with subprocess.Popen(
        ["buildah", "run", name, "--", *words],
        env=ENV,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            said = ""
            for line in process.stdout:
                said += line
                if "Ctrl-C" in line:
                    break
            assert "Ctrl-C" in said, said
            yield said
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def answers(url: str) -> bool:
    """Asked by a process of its own: this one speaks to 127.0.0.1 alone."""
    script = (
        "import sys, urllib.request as u;"
        "print(u.build_opener(u.ProxyHandler({})).open(sys.argv[1], timeout=5).status)"
    )
    for _ in range(20):
        done = subprocess.run([sys.executable, "-c", script, url], capture_output=True, text=True)
        if done.stdout.strip() == "200":
            return True
        time.sleep(0.5)
    return False


def own_address() -> str:
    """An address by which another machine would reach this one, else loopback."""
    done = subprocess.run(["hostname", "-I"], capture_output=True, text=True)
    return (done.stdout.split() or ["127.0.0.1"])[0]


def size(name: str) -> int:
    """Bytes of all files of a container."""
    top = Path(buildah("mount", name).strip())
    found = 0
    for folder, _, files in os.walk(top):
        found += sum(os.lstat(os.path.join(folder, file)).st_size for file in files)
    buildah("umount", name)
    return found


def test_there_is_one_base_named_in_full_and_nothing_comes_from_elsewhere() -> None:
    assert set(bases()) == {"python:3.11.14-slim-bookworm"}
    assert "ARG" not in TEXT
    assert re.findall(r"--from=(\S+)", TEXT) == ["build"]


def test_the_image_adds_less_than_110_mb_to_its_base_and_holds_no_tool_for_building(image: str) -> None:
    with container(image) as ours, container(bases()[0]) as base:
        added = size(ours) - size(base)
        listed = buildah("run", ours, "--", "sh", "-c", "ls /opt/countersign/lib/python3.*/site-packages")

    print(f"adds {added / 1e6:.1f} MB")
    assert added < ADDS_LESS_THAN
    assert not {name for name in listed.split() if name.partition("-")[0].lower() in NOT_IN_IT}


def test_its_commands_answer_as_anybody_but_root(image: str) -> None:
    with container(image) as ours:
        assert "countersign 0.1.0" in buildah("run", ours, "--", "countersign", "--version")
        assert "Usage: countersign" in buildah("run", ours, "--", "countersign", "--help")
        assert "--host" in buildah("run", ours, "--", "countersign", "demo", "--help")
        assert "uid=10001(countersign)" in buildah("run", ours, "--", "id")


def test_a_demo_in_a_container_is_reached_from_outside_it(image: str) -> None:
    port, here = free_ports(4), own_address()
    with (
        container(image) as ours,
        running(ours, "countersign", "demo", "--port", str(port), "--host", "0.0.0.0") as said,
    ):
        assert "can act as anybody" in said
        for number, path in enumerate(("/", "/", "/readyz")):
            assert answers(f"http://{here}:{port + number}{path}")


def test_beside_a_sandbox_in_one_container_the_doctor_in_another_finds_nothing_wrong(image: str) -> None:
    port = free_ports(4)
    ports = ("--slack-port", str(port), "--partner-port", str(port + 1))
    with (
        container(image) as outside,
        running(outside, "countersign", "sandbox", *ports, "--host", "0.0.0.0") as said,
    ):
        assert answers(f"http://{own_address()}:{port}/")
        settings = dict(re.findall(r"^  ((?:SLACK|COUNTERSIGN)_\w+) +(\S+)$", said, re.MULTILINE))
        del settings["SLACK_SIGNING_SECRET"]
        settings["COUNTERSIGN_HTTP_BIND"] = f"127.0.0.1:{port + 2}"
        env = [word for name, value in settings.items() for word in ("--env", f"{name}={value}")]
        script = (
            "cd /srv/countersign/var && countersign init --approvers @card-approvers --approvals-channel"
            " '#card-approvals' --alerts-channel '#card-alerts' --live --database-url sqlite:////srv/countersign/var/c.db"
            " >&2 && set -a && grep -v '^SLACK' .env > own && . ./own && set +a"
            " && countersign migrate >&2 && countersign doctor --json"
        )
        with container(image) as ours:
            report = json.loads(buildah("run", *env, ours, "--", "sh", "-c", script))

    assert report["wrong"] == 0, report
