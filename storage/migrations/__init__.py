"""Alembic revisions, run by `storage.migrate` and shipped with the package."""
