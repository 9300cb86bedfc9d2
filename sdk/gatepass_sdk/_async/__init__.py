"""The client, written once: `_sync` is made of this folder by `make sdk-sync`, word for word."""
