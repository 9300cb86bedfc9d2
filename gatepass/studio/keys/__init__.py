"""Pages of API keys."""
