"""The version, as the package's metadata has it; a test says that they are the same."""

from typing import Final

__version__: Final = "0.1.0"
