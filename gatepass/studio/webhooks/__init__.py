"""Pages of webhook endpoints, deliveries and replays."""
