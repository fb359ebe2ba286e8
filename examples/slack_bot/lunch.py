"""A lunch bot on Slack's Bolt for Python. Nothing in it knows of a sandbox."""

from __future__ import annotations

import os
from typing import Any

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

FORM = {
    "type": "modal",
    "callback_id": "lunch",
    "title": {"type": "plain_text", "text": "Lunch"},
    "submit": {"type": "plain_text", "text": "Ask"},
    "blocks": [
        {
            "type": "input",
            "block_id": "place",
            "label": {"type": "plain_text", "text": "Where?"},
            "element": {"type": "plain_text_input", "action_id": "name", "max_length": 40},
        }
    ],
}


def question(place: str, coming: list[str]) -> list[dict[str, Any]]:
    """The message that asks, with who comes so far."""
    people = ", ".join(f"<@{user}>" for user in coming) or "nobody yet"
    button = {
        "type": "button",
        "action_id": "come",
        "text": {"type": "plain_text", "text": "I come"},
        "value": place,
    }
    return [
        {"type": "section", "text": {"type": "mrkdwn", "text": f"Lunch at *{place}*? Coming: {people}"}},
        {"type": "actions", "elements": [button]},
    ]


def lunch_app(client: WebClient, signing_secret: str) -> App:
    """The app with its listeners."""
    app = App(client=client, signing_secret=signing_secret)
    coming: dict[str, list[str]] = {}

    @app.command("/lunch")
    def ask(ack: Any, body: dict[str, Any], client: WebClient, say: Any) -> None:
        ack()
        place = body["text"].strip()
        if place:
            say(text=f"Lunch at {place}?", blocks=question(place, []))
        else:
            client.views_open(
                trigger_id=body["trigger_id"], view={**FORM, "private_metadata": body["channel_id"]}
            )

    @app.view("lunch")
    def asked(ack: Any, view: dict[str, Any], client: WebClient) -> None:
        place = view["state"]["values"]["place"]["name"]["value"]
        if place.lower() == "nowhere":
            ack(response_action="errors", errors={"place": "Nowhere is not a place."})
            return
        ack()
        client.chat_postMessage(
            channel=view["private_metadata"], text=f"Lunch at {place}?", blocks=question(place, [])
        )

    @app.action("come")
    def come(ack: Any, body: dict[str, Any], client: WebClient) -> None:
        ack()
        place, ts = body["actions"][0]["value"], body["message"]["ts"]
        people = coming.setdefault(ts, [])
        if body["user"]["id"] not in people:
            people.append(body["user"]["id"])
        client.chat_update(
            channel=body["channel"]["id"], ts=ts, text=f"Lunch at {place}?", blocks=question(place, people)
        )

    @app.event("app_mention")
    def hello(event: dict[str, Any], say: Any) -> None:
        say(text="Use /lunch to ask who comes.", thread_ts=event["ts"])

    return app


def main() -> None:
    """Run it on Slack, or wherever SLACK_API_URL leads."""
    url = os.environ.get("SLACK_API_URL", "https://slack.com/api/")
    client = WebClient(os.environ["SLACK_BOT_TOKEN"], base_url=url)
    app = lunch_app(client, os.environ["SLACK_SIGNING_SECRET"])
    SocketModeHandler(app, os.environ["SLACK_APP_TOKEN"]).start()


if __name__ == "__main__":
    main()
