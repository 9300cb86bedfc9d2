"""The worker: claims, sends and records webhooks, runs imports and exports of cards, and does the maintenance."""
