"""How card numbers are masked."""

import pytest

from gatepass.domain.visibility import masked, masked_in


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("SVC 1234 5678 9012", "SVC •••• •••• 9012"),
        ("TEST_VALID", "TEST_VALID"),
        ("Ada Lovelace", "not a card number"),
        ("SVC 1234 5678 9012 Ada", "not a card number"),
        ("SVC ١٢٣٤ 5678 9012", "not a card number"),
    ],
)
def test_a_card_number_for_those_who_may_not_know_whose_it_is(number: str, shown: str) -> None:
    assert masked(number) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"card_number":"SVC 1234 5678 9012"}', '{"card_number":"SVC •••• •••• 9012"}'),
        ("Lost; the new one is SVC123456789012.", "Lost; the new one is SVC •••• •••• 9012."),
        ("Night, on AB-1234-5678-9012", "Night, on AB •••• •••• 9012"),
        ("order 123456789012", "order 123456789012"),
        ("", ""),
    ],
)
def test_card_numbers_within_a_text(text: str, shown: str) -> None:
    assert masked_in(text) == shown
