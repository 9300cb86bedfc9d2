"""The base of every layer. It knows no tickets and imports nothing else of ours."""
