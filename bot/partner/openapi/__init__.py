"""What the API says of itself: its OpenAPI description fetched, compared with what this client expects."""
