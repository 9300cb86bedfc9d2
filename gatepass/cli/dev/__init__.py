"""Parts of `gatepass dev`: its files, its PostgreSQL, its first scan."""
