"""Alembic's entry: runs the revisions on the connection that `storage.migrate` already holds and locked."""

from __future__ import annotations

from alembic import context

from storage.migrations.dialect_indexes import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
context.run_migrations()
