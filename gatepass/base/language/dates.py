"""Dates as participants read them."""

from datetime import datetime
from zoneinfo import ZoneInfo

from gatepass.base.language.catalogue import Language


def written(moment: datetime, form: str, zone: ZoneInfo, language: Language) -> str:
    """The moment in this zone and language; `form` is a pattern of the Unicode CLDR, such as `EEE d MMM, HH:mm`."""
    from babel.dates import format_datetime  # noqa: PLC0415  `gatepass --help` should not wait for it

    return format_datetime(moment, form, tzinfo=zone, locale=language.value)
