"""Objects that live as long as the studio's process. Each is created once, at start."""
