"""The server of `gatepass serve`, with its bounds, in front of the least application."""

import sys

from bench.servers.app import app
from gatepass.base.settings import Settings
from gatepass.server import run
from gatepass.server.connections import Connections

if __name__ == "__main__":
    connections = Connections.of(Settings())
    server = run.Server(app, connections, ready=lambda: None, stopping=lambda: None)
    run.run(server, run.bind("127.0.0.1", int(sys.argv[1])))
