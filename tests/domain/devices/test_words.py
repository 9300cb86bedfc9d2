"""The words of pairing: the service and the SDK have the same list, and nobody mistakes one word for another."""

import hashlib
from itertools import combinations
from pathlib import Path

import gatepass
import gatepass_sdk
from gatepass.domain.devices.pairing.requests import two_words
from gatepass.domain.devices.pairing.words import WORDS


def test_the_service_and_the_sdk_have_the_same_list() -> None:
    ours = Path(gatepass.__file__).parent / "domain" / "devices" / "pairing" / "words.py"
    theirs = Path(gatepass_sdk.__file__).parent / "_gate" / "words.py"
    assert ours.read_bytes() == theirs.read_bytes()


def test_there_is_a_word_for_each_byte() -> None:
    assert len(WORDS) == len(set(WORDS)) == 256
    assert all(word.isascii() and word.islower() and word.isalpha() and 3 <= len(word) <= 8 for word in WORDS)


def test_no_word_is_one_letter_away_from_another() -> None:
    assert [pair for pair in combinations(WORDS, 2) if _distance_is_one(*pair)] == []


def test_the_words_are_those_of_the_contract() -> None:
    digest = hashlib.sha256(b"svc-words-1\0A7K29QXR3M\0" + bytes(32) + b"\0a.request").digest()
    assert two_words("A7K29QXR3M", bytes(32), "a.request") == [WORDS[digest[0]], WORDS[digest[1]]]


def _distance_is_one(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1:
        return False
    if len(long) == len(short):
        return sum(a != b for a, b in zip(one, other, strict=True)) == 1
    return any(long[:place] + long[place + 1 :] == short for place in range(len(long)))
