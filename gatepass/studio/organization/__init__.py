"""Pages of the organization: home, search, logs, team, settings."""
