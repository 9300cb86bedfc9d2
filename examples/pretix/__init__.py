"""A bridge for an organizer who sells with pretix and scans with Gatepass. Start it with `python -m`; see README.md."""
