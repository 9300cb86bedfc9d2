"""Wallets in the worker: which passes have changed, and an empty push to the phones that hold them."""
