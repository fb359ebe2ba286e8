"""A database that cannot be used says why and how to fix it, and never its password."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import make_url

from storage.errors import DatabaseUnreachable
from storage.migrate import migrate
from tests.support.databases import PostgresDatabases

REFUSAL = b'SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user "bot"\0\0'


@pytest.fixture
def refusing_server() -> Iterator[int]:
    """The port of a PostgreSQL that takes nobody's password [postgresql.org, protocol-message-formats]."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def refuse() -> None:
            with listener.accept()[0] as caller:
                caller.recv(10_000)  # asks for TLS
                caller.sendall(b"N")
                caller.recv(10_000)  # says who it is
                caller.sendall(b"E" + (len(REFUSAL) + 4).to_bytes(4, "big") + REFUSAL)

        serving = threading.Thread(target=refuse)
        serving.start()
        yield int(listener.getsockname()[1])
        serving.join()


async def test_a_refused_password_says_where_to_set_it(refusing_server: int) -> None:
    url = f"postgresql://bot:hunter2@127.0.0.1:{refusing_server}/cards?sslmode=prefer&gssencmode=disable"

    with pytest.raises(DatabaseUnreachable, match="does not take the password") as caught:
        await migrate(url)

    assert "Set PGPASSWORD" in str(caught.value)
    assert " postgresql://bot:***@127.0.0.1" in str(caught.value), "as it was written, without the password"
    assert "hunter2" not in str(caught.value)


async def test_a_database_that_was_not_made_says_how_to_make_it(
    postgres_databases: PostgresDatabases,
) -> None:
    url = make_url(postgres_databases.migrated())
    missing = url.set(database="never_made").render_as_string(hide_password=False)

    with pytest.raises(DatabaseUnreachable, match="Make it with createdb"):
        await migrate(missing)

    postgres_databases.drop(url.render_as_string(hide_password=False))
