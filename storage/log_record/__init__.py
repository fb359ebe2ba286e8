"""What the audit log tells that money and keys depend on: how it is read, what it tells, and what is kept of it."""
