"""A pattern that is put together late is a right one."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import re

import bot.intents
from bot.domain import late_patterns


def test_every_pattern_that_waits_can_be_put_together() -> None:
    for module in pkgutil.walk_packages(bot.intents.__path__, "bot.intents."):
        importlib.import_module(module.name)
    waiting = [one for one in gc.get_objects() if type(one) is late_patterns._Late]
    assert len(waiting) > 300
    assert all(re.compile(one.pattern, one.flags) for one in waiting)
