"""The scanner, for the person at the gate: a web app that is paired once, and starts and admits without a network."""
