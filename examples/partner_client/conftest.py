"""The client's fixtures, and six cards to begin each test with."""

import pytest

pytest_plugins = ["countersign_partner.testing"]


@pytest.fixture(scope="session")
def partner_start():
    return lambda simulator: simulator.control("scenarios/happy-day")
