"""Passkeys of everybody in the workspace, there before a plan begins: each made by a device of that person."""

from __future__ import annotations

from bot.domain.passkeys import Bound, Purpose, Site
from bot.services.passkeys import ceremonies
from storage import audit
from storage.operators import Key, passkeys, passkeys_on_record
from storage.store import Store
from tests.simulation.world import ALICE, BOB, CAROL, DAVE, DETAILS_URL
from tests.support.authenticator import Authenticator


async def add_passkeys(devices: dict[str, Authenticator], seed: int, store: Store) -> None:
    """Put one device for each person into `devices`, and its passkey into the database, as if two had agreed."""
    site = Site.at(DETAILS_URL)
    for person in (ALICE, BOB, CAROL, DAVE):
        device = Authenticator(site.origin, seed=f"{seed} {person}")
        passkey_id = f"K-{person}"
        challenge = Bound(Purpose.ADD, passkey_id, 0, "", person, "first").challenge()
        options = ceremonies.creation_options(site, challenge, person=person, name=person, known=[])
        made = ceremonies.new_key(site, challenge, device.create(options))
        async with store.begin() as tx:
            key = Key(person, made.credential_id, made.public_key, site.rp_id, "waiting", made.sign_count)
            await passkeys.add(tx, passkey_id, "Device", key)
            found = await passkeys.get(tx, passkey_id)
            assert found is not None
            await passkeys.activate(tx, found)
            await audit.append(
                tx,
                actor="system:simulation",
                action=passkeys_on_record.ADDED,
                subject=f"passkey:{passkey_id}",
                body={"person": person, "public_key": made.public_key},
            )
        devices[person] = device
