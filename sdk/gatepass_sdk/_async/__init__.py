"""The client. It is written once: `make sdk-sync` generates `_sync` from this folder."""
