"""The server process: socket, signals, readiness, HTTP protocol, and the application that it serves."""
