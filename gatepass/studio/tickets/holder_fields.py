"""The name and the address of a guest, as they are typed into a form. The rules are those of the API and of imports."""

from typing import Annotated

from pydantic import AfterValidator

from gatepass.domain import cards
from gatepass.studio.web.forms import OptionalLine


def _name(text: str) -> str:
    if text and not cards.is_name(text):
        raise ValueError("This has a character that cannot be shown.")
    return text


def _email(text: str) -> str:
    if text and not cards.is_email(text):
        raise ValueError("This is not an e-mail address.")
    return text


HolderName = Annotated[OptionalLine, AfterValidator(_name)]
HolderEmail = Annotated[OptionalLine, AfterValidator(_email)]
