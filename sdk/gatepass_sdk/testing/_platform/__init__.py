"""The calls of platforms: events, categories, cards, tokens and tickets, made and changed."""
