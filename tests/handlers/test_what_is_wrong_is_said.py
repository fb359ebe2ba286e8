"""Where the audit log isn't read yet, or isn't whole, who clicks reads just that, not that the database is away."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import cast

import pytest
from slack_bolt.context.ack.async_ack import AsyncAck

from handlers.deps import Deps
from handlers.guard import Turn
from storage import errors
from storage.operators import passkeys_on_record
from storage.set_aside import UnreadableRow
from tests.handlers.slack_driver import BOB, CAROL, SlackDriver
from tests.services.test_passkeys_on_record import next_start
from tests.support.passkeys import everybody_has_one

_GENERAL = "could not use its database"
_OF_THE_MACHINE = {
    errors.StorageError,
    errors.BadDatabaseUrl,
    errors.DatabaseMissing,
    errors.DatabaseUnreachable,
    errors.DatabaseAway,
    errors.DiskFull,
    errors.DatabaseInUse,
    errors.SchemaBehind,
    errors.SchemaTooNew,
    errors.BadKeyring,
    errors.WrongMasterKey,
}
"""What keeps Countersign from starting, and a command from running: its text says what to do at the machine."""


def _every(cls: type[errors.StorageError]) -> list[type[errors.StorageError]]:
    return [cls, *(each for one in cls.__subclasses__() for each in _every(one))]


def _one(cls: type[errors.StorageError]) -> errors.StorageError:
    if cls is errors.LogNotWhole:
        return errors.LogNotWhole(39, "hash")
    if cls is errors.Unreadable:
        return errors.Unreadable(UnreadableRow("request", "terms", (b"R-7K3M",)))
    if issubclass(cls, errors.NotAsOnRecord):
        return cls("R-7K3M", "is cancelled by the audit log")
    return cls("The sentence of it.")


@pytest.mark.parametrize(
    "cls", [one for one in _every(errors.StorageError) if one.__module__ == errors.__name__]
)
async def test_each_error_of_what_is_stored_says_itself(
    driver: SlackDriver, cls: type[errors.StorageError]
) -> None:
    error = _one(cls)

    ack = cast("AsyncAck", None)  # nothing is answered here
    said = Turn(Deps(driver.core, driver.after), {}, driver.client, None, ack).sentence(error)

    if cls in _OF_THE_MACHINE:
        assert _GENERAL in said
        return
    assert _GENERAL not in said
    if cls is errors.EndOfLogLost:  # its text is for the log; what to do is in words of its own
        assert "where the audit log ends is lost" in said
    else:
        assert str(error) in said
    assert ("Tell an admin the reference" in said) is (cls is not errors.NotReadYet)


async def _presses_everything(driver: SlackDriver) -> dict[str, str]:
    """What is read by who approves, resumes, confirms and adds a passkey: whatever asks the log about passkeys."""
    request = await driver.ask_top_up()
    read = {}
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    read["approve"] = str((await driver.see(BOB))["views"])
    await driver.close(BOB)
    await driver.command(BOB, "/countersign passkey add MacBook")
    read["add"] = str(await driver.shown_to(BOB))
    await driver.command(BOB, "/countersign passkey")
    read["list"] = str(await driver.shown_to(BOB))
    await driver.command(BOB, "/countersign pause main drill")
    await driver.command(BOB, "/countersign resume main")
    question = next(m for m in await driver.messages(CAROL, "C0ALERTS") if "resume sending" in m["text"])
    await driver.press(CAROL, question, "alert:confirm", "C0ALERTS")
    read["resume"] = str(await driver.shown_to(CAROL, "C0ALERTS"))
    return read


async def test_while_the_log_is_being_read_every_button_says_to_try_again(
    driver: SlackDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    await everybody_has_one(driver.world)
    await driver.settle()
    monkeypatch.setattr(passkeys_on_record, "AT_ONCE", -1)

    read = await _presses_everything(driver)

    assert {name for name, text in read.items() if _GENERAL in text} == set()
    assert "still reading its audit log" in read["approve"]
    assert "Try again in some seconds" in read["resume"]


async def test_where_the_log_is_broken_every_button_names_the_entry(driver: SlackDriver) -> None:
    await everybody_has_one(driver.world)
    await driver.settle()
    request = await driver.ask_top_up()
    with closing(sqlite3.connect(driver.world.database)) as connection:
        connection.execute("DROP TRIGGER audit_no_update")
        connection.execute("UPDATE audit SET body = '{}' WHERE seq = 3")
        connection.commit()
    next_start(driver.world)

    await driver.press(BOB, await driver.card(request.id), "request:approve")

    read = str((await driver.see(BOB))["views"])
    assert _GENERAL not in read
    assert re.search("at entry 3", read)
