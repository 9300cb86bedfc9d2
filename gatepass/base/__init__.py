"""The floor: what every room stands on. It knows no tickets and imports nothing of ours."""
