"""pretix, as its own documentation runs it, for `bench.peer` to compare Gatepass with.

pretix is under the AGPL. We run it in its own venv and its own processes, and distribute none of its code.
"""
