"""Drills: what an operator does on a bad day, in one command, judged."""
