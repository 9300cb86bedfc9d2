"""`gatepass` with some of its constants changed, for troubles that would take a minute or a hundred thousand calls.

python -m tests.observe.impatient gatepass.studio.services.live_watcher:COUNT_EVERY=2 serve --only studio
"""

import importlib
import sys

from gatepass.cli.main import run


def change(text: str) -> None:
    place, _, value = text.partition("=")
    module, _, name = place.partition(":")
    changed = importlib.import_module(module)
    setattr(changed, name, type(getattr(changed, name))(value))


if __name__ == "__main__":
    while ":" in sys.argv[1]:
        change(sys.argv.pop(1))
    run()
