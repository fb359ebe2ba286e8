"""Who is in the workspace: people, user groups, channels, and those a new stand-in starts with."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from sandbox.slack.json_object import Json

TEAM_ID = "T0SANDBOX"
TEAM_NAME = "Countersign Demo"
TEAM_DOMAIN = "countersign-demo"
APP_ID = "A0COUNTERSIGN"
BOT_ID = "B0BOT"
BOT_USER = "U0BOT"
#: The classic verification token; Slack still sends it and nobody should check it.
VERIFICATION_TOKEN = "sandbox-verification-token"  # noqa: S105 (a name everybody may know)


@dataclass
class Person:
    """A user, with what `users.info` answers of it."""

    id: str
    name: str
    real_name: str
    team_id: str = TEAM_ID
    tz: str = "Europe/London"
    email: str = ""
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_stranger: bool = False
    is_bot: bool = False
    deleted: bool = False
    updated_at: int = 0

    @property
    def is_full_member(self) -> bool:
        """Whether this is an active person of this workspace: no guest, stranger, bot, or member of another one."""
        return not (
            self.is_restricted
            or self.is_ultra_restricted
            or self.is_stranger
            or self.is_bot
            or self.deleted
            or self.team_id != TEAM_ID
        )

    def as_json(self) -> Json:
        """These fields by name, as saved and as the control API gives them."""
        return asdict(self)


@dataclass
class Group:
    """A user group; people write its handle. `channels` are those that its members are in by default."""

    id: str
    handle: str
    name: str
    users: list[str] = field(default_factory=list)
    updated_at: int = 0
    description: str = ""
    channels: list[str] = field(default_factory=list)
    creator: str = "U0CAROL"

    def as_json(self) -> Json:
        """These fields by name, as saved and as the control API gives them."""
        return asdict(self)


@dataclass
class Channel:
    """A channel, or a direct message between the app and `im_user`."""

    id: str
    name: str
    members: list[str] = field(default_factory=list)
    archived: bool = False
    is_private: bool = False
    is_ext_shared: bool = False
    im_user: str = ""
    created_at: int = 0
    creator: str = "U0CAROL"
    topic: str = ""
    purpose: str = ""
    is_mpim: bool = False
    bookmarks: list[Json] = field(default_factory=list)

    @property
    def is_im(self) -> bool:
        """Whether this is a direct message with the app."""
        return bool(self.im_user)

    @property
    def bot_is_in(self) -> bool:
        """Whether the app is a member."""
        return BOT_USER in self.members

    def as_json(self) -> Json:
        """These fields by name, with `is_im`, as saved and as the control API gives them."""
        return {**asdict(self), "is_im": self.is_im}


def seed_people(bot_name: str) -> list[Person]:
    """Three full members, a guest, a stranger, one who left, and the app's own user."""
    return [
        Person("U0ALICE", "alice", "Alice Moreau", tz="Europe/Paris"),
        Person("U0BOB", "bob", "Bob Tanaka", tz="Asia/Tokyo"),
        Person("U0CAROL", "carol", "Carol Reyes", tz="America/New_York"),
        Person("U0GUEST", "gail", "Gail Guest", is_restricted=True),
        Person("U0STRANGER", "sven", "Sven Stranger", team_id="T0OTHER", is_stranger=True),
        Person("U0GONE", "gus", "Gus Gone", deleted=True),
        Person(BOT_USER, bot_name.lower(), bot_name, is_bot=True),
    ]


def seed_groups() -> list[Group]:
    """Two user groups: approvers and admins."""
    return [
        Group("S0APPROVERS", "card-approvers", "Card approvers", ["U0BOB", "U0CAROL"]),
        Group("S0ADMINS", "card-admins", "Card admins", ["U0CAROL"]),
    ]


def seed_channels(created_at: int, everybody: list[Person]) -> list[Channel]:
    """The working channels, and `general`, where the app is not; guests sit in one of them."""
    full = [one.id for one in everybody if one.is_full_member]
    guests = [one.id for one in everybody if one.is_restricted or one.is_ultra_restricted]
    return [
        Channel("C0OPS", "card-ops", [*full, *guests, BOT_USER], created_at=created_at),
        Channel("C0APPROVALS", "card-approvals", [*full, BOT_USER], created_at=created_at),
        Channel("C0ALERTS", "card-alerts", [*full, BOT_USER], created_at=created_at),
        Channel("C0GENERAL", "general", full, created_at=created_at),
    ]


def direct_message(person: Person, created_at: int) -> Channel:
    """The conversation of one person with the app: `D0ALICE` for alice (U0ALICE)."""
    return Channel(
        f"D0{person.name.upper()}",
        f"dm-{person.name}",
        [person.id, BOT_USER],
        im_user=person.id,
        created_at=created_at,
    )
