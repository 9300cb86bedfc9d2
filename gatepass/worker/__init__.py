"""The worker: the door outwards. It claims, sends and records webhooks, and keeps the house."""
