"""The parts of a `Gate`: its directory, its journal, its decisions, and its calls."""
