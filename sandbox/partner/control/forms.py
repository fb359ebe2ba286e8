"""What a control call is made of: the form of its body, what it runs, and how it is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from sandbox.partner.accounts import accounts
from sandbox.partner.state import World

Reply = dict[str, Any]
YEARS = (2000, 2199)  # the years that somebody might mean


class Form(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A control body: every field is checked and an unknown one refused by its name."""


class Nothing(Form):
    """No fields."""


class Wrong(Exception):
    """A control call that cannot be done: a status and a sentence naming what is wrong."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class ControlCall:
    """`{}` in the path is one segment, handed to `run` after the world and the form."""

    method: str
    path: str
    form: Any
    run: Callable[..., Reply]


def account_named(world: World, name: str | None) -> str:
    """The account a call means; the first when it names none."""
    account_id = name or accounts.first_account(world)
    try:
        return accounts.account(world, account_id).id
    except KeyError as error:
        raise Wrong(f"account: {account_id} is not an account here") from error
