"""A job that tops up cards that run low, on the Partner API. Nothing in it knows of a sandbox."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import httpx


class NotSure(Exception):
    """It is not known whether the money moved; the same call has to be made again, with the same key."""


class Refill:
    """Brings every active card below `low_usd` up to `full_usd`."""

    def __init__(self, base_url: str, key: str, *, low_usd: Decimal, full_usd: Decimal) -> None:
        self._http = httpx.Client(base_url=base_url, headers={"X-API-Key": key}, trust_env=False)
        self._low_usd, self._full_usd = low_usd, full_usd

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def available_usd(self) -> Decimal:
        """What the float can spend."""
        return Decimal(self._read("/me")["float"]["available_usd"])

    def run(self, day: str) -> dict[str, str]:
        """Top up what is low; by card what was done. The same day never tops a card up twice."""
        done = {}
        for card in self._read("/cards")["cards"]:
            if card["status"] != "ACTIVE":
                continue
            balance = self._read(f"/cards/{card['id']}")["balance_usd"]
            if balance is None or Decimal(balance) >= self._low_usd:
                continue
            done[card["id"]] = self._top_up(
                card["id"], self._full_usd - Decimal(balance), f"refill-{day}-{card['id']}"
            )
        return done

    def _top_up(self, card_id: str, amount_usd: Decimal, key: str) -> str:
        body = f'{{"amount_usd": {amount_usd}}}'  # a plain JSON number, never a float
        for _ in range(3):
            try:
                headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
                answer = self._http.post(f"/cards/{card_id}/topup", content=body, headers=headers)
            except httpx.TransportError:
                continue
            if answer.status_code == 200:
                return f"topped up by {amount_usd}"
            code = answer.json()["code"]
            if answer.status_code == 402:
                return "float too low"
            if code == "ALREADY_PROCESSED" or answer.status_code in (500, 502):
                raise NotSure(key)
            return code
        raise NotSure(key)

    def _read(self, path: str) -> Any:
        answer = self._http.get(path)
        answer.raise_for_status()
        return json.loads(answer.content, parse_float=Decimal, parse_int=Decimal)["data"]
