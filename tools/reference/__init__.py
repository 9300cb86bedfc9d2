"""Generates the reference pages from the code. The pages are committed, and a test compares them."""
