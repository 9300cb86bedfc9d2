"""DOOR: the public REST API, `/api/public/v1`."""
