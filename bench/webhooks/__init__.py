"""What delivering webhooks costs, how soon they come, and what one bad receiver does to the others."""
