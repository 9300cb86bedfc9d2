"""pretix, as its own documentation runs it: `bench.peer` compares Gatepass with it, and tests/bridge sells there.

pretix is under the AGPL. We run it in its own venv and its own processes, and distribute none of its code.
"""
