"""A person as the Web API and `user_change` show them."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sandbox.slack.people import APP_ID, BOT_ID, BOT_USER, Person

Json = dict[str, Any]


def user_json(person: Person, now: float) -> Json:
    """A user as Slack shows it to an app without `users:read.email`."""
    zone = ZoneInfo(person.tz)
    moment = datetime.fromtimestamp(now, zone)
    offset = moment.utcoffset()
    profile: Json = {
        "title": "",
        "phone": "",
        "skype": "",
        "real_name": person.real_name,
        "real_name_normalized": person.real_name,
        "display_name": person.name,
        "display_name_normalized": person.name,
        "status_text": "",
        "status_emoji": "",
        "status_expiration": 0,
        "avatar_hash": "",
        "team": person.team_id,
    }
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
        }
    return shown
