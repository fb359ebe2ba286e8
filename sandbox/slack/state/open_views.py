"""Modals and home tabs: the stack of each person, hashes, external ids, and the form Slack gives them.

Opening a modal while one is open replaces the whole stack (unverified: Slack does not say).

Source: https://docs.slack.dev/surfaces/modals
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field

from sandbox.slack.block_kit import input_values, stored_blocks
from sandbox.slack.clock import Clock
from sandbox.slack.errors import SlackError
from sandbox.slack.ids import Ids
from sandbox.slack.json_object import Json
from sandbox.slack.state.people import APP_ID, BOT_ID, TEAM_ID
from sandbox.slack.state.store import Store

STACK_DEPTH = 3
#: What an app may put in a view, with what Slack shows where it does not.
OPTIONAL: Json = {
    "private_metadata": "",
    "callback_id": "",
    "external_id": "",
    "clear_on_close": False,
    "notify_on_close": False,
    "close": None,
    "submit": None,
}


@dataclass
class View:
    """An open modal, or somebody's home tab."""

    id: str
    user: str
    body: Json
    hash: str
    root_id: str
    previous_id: str | None = None
    #: Options an external select was last answered with, by block id and action id.
    suggested: dict[tuple[str, str], dict[str, Json]] = field(default_factory=dict)
    values: dict[str, dict[str, Json]] = field(default_factory=dict)
    submitting: bool = False

    @property
    def blocks(self) -> list[Json]:
        """The blocks of the view, as kept."""
        held: list[Json] = self.body["blocks"]
        return held

    def current_values(self) -> dict[str, dict[str, Json]]:
        """`state.values`: every element that has a state, touched or not."""
        found: dict[str, dict[str, Json]] = {}
        for placed in stored_blocks.elements(self.blocks):
            if placed.element["type"] in input_values.STATELESS:
                continue
            kept = self.values.get(placed.block_id, {}).get(placed.action_id)
            if kept is None or kept["type"] != placed.element["type"]:
                kept = input_values.initial_state(placed.element)
            found.setdefault(placed.block_id, {})[placed.action_id] = kept
        return found

    def as_json(self, values: dict[str, dict[str, Json]] | None = None) -> Json:
        """The view object of responses and payloads."""
        return deepcopy(
            {
                "id": self.id,
                "team_id": TEAM_ID,
                "state": {"values": self.current_values() if values is None else values},
                "hash": self.hash,
                "previous_view_id": self.previous_id,
                "root_view_id": self.root_id,
                "app_id": APP_ID,
                "app_installed_team_id": TEAM_ID,
                "bot_id": BOT_ID,
                **OPTIONAL,
                **self.body,
            }
        )


class Views:
    """Every open modal by person, and the home tabs."""

    def __init__(self, clock: Clock, ids: Ids, store: Store) -> None:
        self._clock = clock
        self._ids = ids
        self._store = store
        self.stacks: dict[str, list[View]] = {}

    def reset(self) -> None:
        """Close every modal."""
        self.stacks.clear()

    def stack(self, user: str) -> list[View]:
        """The open modals of a person, the one on top last."""
        return self.stacks.setdefault(user, [])

    def open(self, user: str, body: Json) -> View:
        """A new stack of one. Raises SlackError `duplicate_external_id`."""
        self.stacks[user] = []
        return self._place(user, body)

    def push(self, user: str, body: Json) -> View:
        """On top of an open stack. Raises `not_found` without one, `push_limit_reached` on a full one."""
        stack = self.stack(user)
        if not stack:
            raise SlackError("not_found")
        if len(stack) >= STACK_DEPTH:
            raise SlackError("push_limit_reached")
        return self._place(user, body)

    def update(self, view: View, body: Json, expected_hash: str | None) -> View:
        """New content under the same id and a new hash; what people typed stays where ids match.

        Raises `hash_conflict` and `duplicate_external_id`."""
        if expected_hash is not None and expected_hash != view.hash:
            raise SlackError("hash_conflict")
        self._check_external_id(body, view)
        view.body = self._completed(body)
        view.hash = self._hash()
        view.submitting = False
        if view.body["type"] == "home":
            self._store.put_home(view.user, stored(view))
        self._store.on_change()
        return view

    def publish(self, user: str, body: Json, expected_hash: str | None) -> View:
        """Set somebody's home tab. Raises `hash_conflict`."""
        view = self.home(user)
        if view is None:
            view_id = self._ids.fresh("V")
            view = View(view_id, user, {"type": "home", "blocks": []}, "", view_id)
        return self.update(view, body, expected_hash)

    def home(self, user: str) -> View | None:
        """Somebody's home tab, or None when the app has not published one."""
        held = self._store.homes.get(user)
        return None if held is None else View(**held)

    def find(self, view_id: str) -> View | None:
        """An open modal or a home tab, by id."""
        for stack in self.stacks.values():
            for view in stack:
                if view.id == view_id:
                    return view
        for user, held in self._store.homes.items():
            if held["id"] == view_id:
                return self.home(user)
        return None

    def with_external_id(self, external_id: str) -> View | None:
        """The open modal with this external id, or None."""
        everything = (view for stack in self.stacks.values() for view in stack)
        return next((one for one in everything if one.body.get("external_id") == external_id), None)

    def close(self, view: View, *, whole_stack: bool) -> list[View]:
        """Take a view away with what lies on it, or its whole stack; answers what went, top first."""
        stack = self.stack(view.user)
        keep = 0 if whole_stack or view not in stack else stack.index(view)
        gone = stack[keep:]
        del stack[keep:]
        self._store.on_change()
        return gone[::-1]

    def _place(self, user: str, body: Json) -> View:
        self._check_external_id(body, None)
        stack = self.stack(user)
        view_id = self._ids.fresh("V")
        view = View(
            view_id,
            user,
            self._completed(body),
            self._hash(),
            root_id=stack[0].id if stack else view_id,
            previous_id=stack[-1].id if stack else None,
        )
        stack.append(view)
        self._store.on_change()
        return view

    def _check_external_id(self, body: Json, own: View | None) -> None:
        external_id = body.get("external_id")
        if external_id and self.with_external_id(external_id) not in (None, own):
            raise SlackError("duplicate_external_id")

    def _completed(self, body: Json) -> Json:
        text = {
            key: stored_blocks.complete_text(body[key])
            for key in ("title", "submit", "close")
            if body.get(key)
        }
        return {**body, **text, "blocks": stored_blocks.completed(body["blocks"], self._ids)}

    def _hash(self) -> str:
        return f"{int(self._clock.now())}.{self._ids.hex(8)}"


def stored(view: View) -> Json:
    """A home tab as the store keeps it: what `View` is made of, without what people typed."""
    return {
        "id": view.id,
        "user": view.user,
        "body": view.body,
        "hash": view.hash,
        "root_id": view.root_id,
        "previous_id": view.previous_id,
    }
