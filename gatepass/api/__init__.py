"""The public REST API, `/api/public/v1`."""
