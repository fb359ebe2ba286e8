"""Both distributions, built once and laid out in one folder, as somebody has them who tests with the client."""

from pathlib import Path

import pytest

from tests.support.distributions import unpacked


@pytest.fixture(scope="session")
def client_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's distribution and nothing else."""
    return unpacked("partner", tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's and the sandbox's."""
    folder = tmp_path_factory.mktemp("both")
    unpacked("sandbox", folder)
    return unpacked("partner", folder)
