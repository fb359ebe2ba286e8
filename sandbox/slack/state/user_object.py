"""A person as the Web API and `user_change` show them."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from sandbox.slack.json_object import Json
from sandbox.slack.state.people import APP_ID, BOT_ID, BOT_USER, TEAM_DOMAIN, Person

#: Where Slack would keep pictures; nothing is there, and nothing loads it.
AVATARS = f"https://{TEAM_DOMAIN}.slack.com/avatars"
#: Of the addresses of people, which an app sees only with `users:read.email`.
MAIL_DOMAIN = "northwind-team.example"
AVATAR_SIZES = (24, 32, 48, 72, 192, 512)


def user_json(person: Person, now: float, *, with_email: bool) -> Json:
    """A user as Slack shows it to an app at `now` (seconds since the epoch).

    `with_email`: the app has `users:read.email`.

    Source: https://docs.slack.dev/reference/objects/user-object
    """
    zone = ZoneInfo(person.tz)
    moment = datetime.fromtimestamp(now, zone)
    offset = moment.utcoffset()
    profile = _profile(person)
    shown: Json = {
        "id": person.id,
        "team_id": person.team_id,
        "name": person.name,
        "deleted": person.deleted,
        "profile": profile,
        "is_bot": person.is_bot,
        "is_app_user": False,
        "updated": person.updated_at,
    }
    if person.id == BOT_USER:
        profile |= {"api_app_id": APP_ID, "bot_id": BOT_ID, "always_active": False}
    elif with_email and not person.is_bot and not person.is_stranger:
        profile["email"] = email_of(person)
    if person.is_stranger:
        shown["is_stranger"] = True
    if not person.deleted:
        shown |= {
            "color": "4bbe2e",
            "real_name": person.real_name,
            "tz": person.tz,
            "tz_label": moment.tzname() or person.tz,
            "tz_offset": int(offset.total_seconds()) if offset is not None else 0,
            "is_admin": False,
            "is_owner": False,
            "is_primary_owner": False,
            "is_restricted": person.is_restricted,
            "is_ultra_restricted": person.is_ultra_restricted,
            "is_email_confirmed": not person.is_bot,
            "who_can_share_contact_card": "EVERYONE",
        }
    return shown


def email_of(person: Person) -> str:
    """The address of a person; one follows from the name where none was given."""
    return person.email or f"{person.name}@{MAIL_DOMAIN}"


def _profile(person: Person) -> Json:
    first, _, last = person.real_name.partition(" ")
    return {
        "title": "",
        "phone": "",
        "skype": "",
        "real_name": person.real_name,
        "real_name_normalized": person.real_name,
        "display_name": person.real_name,
        "display_name_normalized": person.real_name,
        "first_name": first,
        "last_name": last,
        "status_text": "",
        "status_text_canonical": "",
        "status_emoji": "",
        "status_emoji_display_info": [],
        "status_expiration": 0,
        "avatar_hash": "",
        **{f"image_{size}": f"{AVATARS}/{person.id}-{size}.png" for size in AVATAR_SIZES},
        "team": person.team_id,
    }
