"""Tickets issued a thousand at a time: against bare PostgreSQL, and a million of them while scans go on."""
