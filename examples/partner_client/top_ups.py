"""Top-ups that are made once, whatever becomes of an answer: each is written down before it is sent."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

from countersign_partner import Certainty, PartnerClient, PartnerError


class TopUps:
    """A file with one line for each top-up that was decided on: its key, card, amount and state."""

    def __init__(self, path: Path, client: PartnerClient) -> None:
        self._path, self._client = path, client
        self._all: dict[str, dict[str, str]] = json.loads(path.read_text()) if path.exists() else {}

    def decide(self, key: str, card_id: str, amount_usd: Decimal) -> None:
        """Write a top-up down. The key says what it is for, so that deciding twice changes nothing."""
        new = {"card_id": card_id, "amount_usd": str(amount_usd), "state": "to send"}
        self._all.setdefault(key, new)
        self._save()

    async def send(self) -> dict[str, str]:
        """Send everything that is not settled; the state of each top-up by key."""
        for key, one in self._all.items():
            if one["state"] in ("to send", "unknown"):
                one["state"] = await self._one(key, one["card_id"], Decimal(one["amount_usd"]))
                self._save()
        return {key: one["state"] for key, one in self._all.items()}

    async def _one(self, key: str, card_id: str, amount_usd: Decimal) -> str:
        before = self._all[key]["state"]
        try:
            await self._client.top_up(card_id, amount_usd=amount_usd, key=key)
        except PartnerError as error:
            if error.certainty is Certainty.TRANSIENT:
                return before
            # A refusal speaks of its own call only: after an answer that was lost it settles nothing.
            if error.certainty is Certainty.AMBIGUOUS or before == "unknown":
                return "unknown"
            return f"refused: {error.code}"
        return "done"

    def _save(self) -> None:
        self._path.write_text(json.dumps(self._all, indent=1))
