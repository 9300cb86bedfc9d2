"""The live page of an event under load."""
