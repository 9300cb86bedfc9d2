"""Pairing over HTTP, at /gate/pair: outside the public API's base path, because a device has no key yet."""
