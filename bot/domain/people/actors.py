"""Who is acting, as Slack says it now."""

from __future__ import annotations

from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from bot.domain.errors import NotAllowed


@dataclass(frozen=True, slots=True)
class Actor:
    """A Slack account as `users.info` describes it now.

    `mailbox` is a keyed hash of its e-mail address, empty where Slack does not say it: to see that two accounts belong
    to one person. It is never stored or shown, and the address itself is nowhere. `is_gone`: Slack does not know the
    account, or does not show it to us; then nothing else is known of it.
    """

    id: str
    name: str
    team_id: str = ""
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_stranger: bool = False
    is_bot: bool = False
    deleted: bool = False
    is_gone: bool = False
    tz: str = "UTC"
    mailbox: str = field(default="", repr=False)

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of their Slack profile; UTC where it names none that we know."""
        try:
            return ZoneInfo(self.tz)
        except (LookupError, ValueError, OSError):  # unknown, malformed, or the name of a folder
            return ZoneInfo("UTC")


def require_full_member(actor: Actor, home_team: str) -> None:
    """Raise `NotAllowed` unless this is an active full member of the home workspace."""
    if actor.is_gone:
        raise NotAllowed("Slack does not know this account, so it cannot use Countersign.", "unknown_account")
    if actor.deleted:
        raise NotAllowed("This Slack account is deactivated, so it cannot use Countersign.", "deactivated")
    if actor.is_bot:
        raise NotAllowed("Bots and workflows cannot use Countersign: a person has to ask.", "bot")
    if actor.is_restricted or actor.is_ultra_restricted:
        raise NotAllowed("Guests cannot use Countersign. Ask a full member of this workspace.", "guest")
    if actor.is_stranger or (home_team and actor.team_id != home_team):
        raise NotAllowed("People of other workspaces cannot use Countersign.", "stranger")


def is_full_member(actor: Actor, home_team: str) -> bool:
    """As `require_full_member`, where nobody is there to be notified."""
    try:
        require_full_member(actor, home_team)
    except NotAllowed:
        return False
    return True
