"""A plugin of pytest: each process of a run is measured from before anything of ours is imported there."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from tests.branches.measuring import SEEN, measure

_running = measure(os.environ[SEEN])
_running.start()


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """The same examples each time: no branch is taken by luck."""
    settings.register_profile("branches", deadline=None, database=None, derandomize=True)
    settings.load_profile("branches")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Nothing of the tests runs any more."""
    _running.stop()
    _running.save()
