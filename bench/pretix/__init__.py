"""pretix, as its own documentation runs it: what `bench.peer` compares Gatepass with.

pretix is under the AGPL. We run it, in a venv and processes of its own, and carry none of its code.
"""
