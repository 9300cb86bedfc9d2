"""Text that comes from outside."""


def is_storable(text: str) -> bool:
    """NUL and lone surrogates pass every parser and fail inside PostgreSQL."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
