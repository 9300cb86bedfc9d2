"""The version. A test compares it with the package's metadata."""

from typing import Final

__version__: Final = "0.1.0"
