"""The reference pages: made from what the code says of itself, committed, and compared by a test."""
