"""Commands of those who issue: events, cards, tickets and imports."""
