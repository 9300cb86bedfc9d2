"""The studio: the console in which organizers run their events, cards, keys and webhooks."""
