"""The data of `gatepass demo`: organizations, events, cards and tickets."""
