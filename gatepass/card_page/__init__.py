"""The page of a card, for its holder. Public: whoever has the link sees the card, and no cookie is set."""
