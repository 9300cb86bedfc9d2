"""Pages of tickets, cards and imports."""
