"""Forms of API keys, and the choices in them."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, Field, field_validator

from gatepass.domain.keys import Mode, Overlap, Scope
from gatepass.studio.web.forms import LongText, ShortLine
from gatepass.studio.web.networks import networks_in


class Expiry(StrEnum):
    """When a new key ends."""

    WEEK = "7d"
    MONTH = "30d"
    QUARTER = "90d"
    HALF = "180d"
    YEAR = "365d"
    NEVER = "never"

    def after(self, at: datetime) -> datetime | None:
        return None if self is Expiry.NEVER else at + timedelta(days=int(self.removesuffix("d")))


EXPIRIES: Final = (
    (Expiry.WEEK, "In 7 days"),
    (Expiry.MONTH, "In 30 days"),
    (Expiry.QUARTER, "In 90 days"),
    (Expiry.HALF, "In 180 days"),
    (Expiry.YEAR, "In a year"),
    (Expiry.NEVER, "Never"),
)
OVERLAPS: Final = (
    (Overlap.NONE, "At once", "Whatever still uses the old key is refused from the next call on."),
    (Overlap.HOUR, "In 1 hour", "Enough when you can change every place yourself, now."),
    (Overlap.DAY, "In 24 hours", "Enough for a deployment."),
    (Overlap.WEEK, "In 7 days", "Enough when others have to change it for you."),
)


def default_expiry(mode: Mode) -> Expiry:
    """A live key expires by default, so that a forgotten one ends by itself."""
    return Expiry.QUARTER if mode is Mode.LIVE else Expiry.NEVER


def _networks(text: str) -> str:
    networks_in(text)
    return text


class NewKeyForm(BaseModel):
    name: ShortLine
    scopes: list[Scope] = Field(default=[], validate_default=True)
    expiry: Expiry
    networks: Annotated[LongText, AfterValidator(_networks)] = ""

    @field_validator("scopes")
    @classmethod
    def _some(cls, scopes: list[Scope]) -> list[Scope]:
        if not scopes:
            raise ValueError("Choose at least one scope: a key without any opens nothing.")
        return scopes


class KeyNameForm(BaseModel):
    name: ShortLine


class KeyRollForm(BaseModel):
    overlap: Overlap
    expiry: Expiry
