"""The rooms: what the service knows, cut by noun. Doors call plain verbs, `verb(tx, organization_id, …)`."""
