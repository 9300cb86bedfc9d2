"""The studio in this process, with a mail server to write to, so that every form of it can act."""

from tests.studio.conftest import mailing_studio, settings

__all__ = ["mailing_studio", "settings"]
