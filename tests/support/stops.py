"""What people do to stop something: Carol pauses or says no, Alice withdraws what she asked for."""

from bot.domain.requests import Request
from bot.services.operators import pausing
from bot.services.requests import approvals, lifecycle
from tests.support.world import ALICE, CAROL, World


async def pause(world: World, _request: Request) -> None:
    """All sending."""
    await pausing.pause(world.core, CAROL, ["main"], "stolen key")


async def reject(world: World, request: Request) -> None:
    """What is pending, or approved and not sent."""
    await approvals.reject(world.core, request.id, CAROL, reason="stop it")


async def withdraw(world: World, request: Request) -> None:
    """By its requester."""
    await lifecycle.cancel(world.core, request.id, ALICE)
