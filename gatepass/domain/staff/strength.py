"""How many guesses a password withstands: `zxcvbn`, a list of breached passwords, and what others know of its owner.

`zxcvbn` knows common words, names, dates, keyboard runs, repetitions and letters replaced by signs, and counts the
guesses of somebody who knows them too. It is pure Python, so it runs in the thread that hashes, on a bounded text.
"""

import gzip
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

# Below this many guesses, a password is refused. The throttle allows a hundred thousand in a year; this is for the day
# when somebody has the hashes. Three random words withstand a thousand times as many.
FEWEST_GUESSES: Final = 5e8
# A word with a year and a sign behind it, "Winter2026!!", is as weak as the word.
FEWEST_OF_CORE: Final = 1e5
BEGINNING: Final = re.compile(r"^[\W_]{1,2}")
ENDING: Final = re.compile(r"[\W_]{0,2}\d{0,6}[\W_]{0,2}$")
# Letters and digits beside the person's name, address and organization and our product's words.
FEWEST_OTHER: Final = 6
# `zxcvbn` takes 20 ms for this many characters, and more than linearly longer for more. What begins well is good.
EXAMINED: Final = 32
# It tries every reading of signs that stand for letters, and with many different ones takes seconds. Nobody reads
# words into such a text: the signs are replaced by others that stand for nothing.
SIGNS: Final = "@({[<!|$+%"
MOST_SIGNS: Final = 3
NEUTRAL: Final = str.maketrans(SIGNS, '~^`=:;"?,\\')
LEET: Final = str.maketrans("4@8(36901!|$5+72", "aabceggoiilssttz")
BREACHED: Final = Path(__file__).with_name("breached") / "passwords.txt.gz"
# Famous for being good, and so no longer.
FAMOUS: Final = frozenset(
    """
    correcthorsebatterystaple correcthorsebatterystapler tobeornottobe tobeornottobethatisthequestion
    nevergonnagiveyouup maytheforcebewithyou thequickbrownfox thequickbrownfoxjumpsoverthelazydog onceuponatime
    iamyourfather winteriscoming youshallnotpass allyourbasearebelongtous ilovemymother ilovemyfamily
    """.split()
)
PRODUCT: Final = ("gatepass", "studio", "ticket", "tickets", "event", "events", "gate", "scanner", "organization")


def is_guessable(password: str, about: Sequence[str]) -> bool:
    """Whether somebody would find it early; `about` is what others know of its owner: name, address, organization."""
    plain = _without_accents(password)
    if any(form in breached() or form in FAMOUS for form in _forms(plain)):
        return True
    words = sorted({*_words(about), *PRODUCT}, key=len, reverse=True)
    if any(_is_known(form, words) for form in _forms(plain) if 3 * len(form) >= 2 * len(plain)):
        return True
    examined = _bounded(plain)
    if guesses(examined, words) < FEWEST_GUESSES:
        return True
    core = _core(examined)
    return core != examined and bool(core) and guesses(core, words) < FEWEST_OF_CORE


def guesses(text: str, words: Sequence[str] = ()) -> float:
    """How many guesses `zxcvbn` needs. Its lists take 50 ms to load, so they are loaded with the first call."""
    from zxcvbn import zxcvbn  # noqa: PLC0415

    return float(zxcvbn(text, user_inputs=list(words))["guesses"])


@cache
def breached() -> frozenset[str]:
    return frozenset(gzip.decompress(BREACHED.read_bytes()).decode().split())


def letters(text: str) -> str:
    """The letters and digits of a text, in lower case and without accents: the form of the list."""
    return "".join(c for c in _without_accents(text).lower() if c.isascii() and c.isalnum())


def _forms(password: str) -> Iterator[str]:
    """What somebody may have begun with: without signs, with signs read as letters, without an ending, once."""
    for form in (password, password.translate(LEET)):
        whole = letters(form)
        yield whole
        yield whole.rstrip("0123456789")
        half = whole[: len(whole) // 2]
        if whole == half + half:
            yield half


def _is_known(form: str, words: Sequence[str]) -> bool:
    """Whether little is left of it without what others know; the longest words are cut out first."""
    rest = form
    for word in words:
        rest = rest.replace(word, "") if len(word) > 2 else rest
    return len(rest) < min(FEWEST_OTHER, len(form) - len(rest))


def _words(about: Iterable[str]) -> Iterator[str]:
    """Each text, its letters, and its parts."""
    for text in about:
        plain = _without_accents(text).lower()[:EXAMINED]
        yield from (part for part in (plain, letters(plain), *re.split(r"[\W_]+", plain)) if len(part) > 1)


def _core(text: str) -> str:
    """The text without a number and a few signs behind it, and a few signs before it."""
    return ENDING.sub("", BEGINNING.sub("", text))


def _bounded(text: str) -> str:
    text = text[:EXAMINED]
    return text.translate(NEUTRAL) if len(set(text) & set(SIGNS)) > MOST_SIGNS else text


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text[: 4 * EXAMINED])
    return "".join(c for c in decomposed if not unicodedata.combining(c))
