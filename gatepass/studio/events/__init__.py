"""Pages of events, and the live page of an event."""
