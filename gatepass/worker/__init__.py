"""The worker: claims, sends and records webhooks, runs imports, and does the maintenance."""
