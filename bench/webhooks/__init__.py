"""The speed, cost and latency of webhook deliveries, and the effect of bad receivers on good ones."""
