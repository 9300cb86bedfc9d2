"""Models that `models.py` has too, each kind in a file of its own."""
