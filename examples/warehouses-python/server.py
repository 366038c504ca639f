#!/usr/bin/env python3
"""Serves the subgraph over HTTP, with the standard library alone: GraphQL by POST /graphql, and the probe GET /livez."""

import json
import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from subgraph import Subgraph

HERE = os.path.dirname(os.path.abspath(__file__))
MAX_BODY_BYTES = 1024 * 1024
MAX_CONNECTIONS = 100
IDLE_SECONDS = 30


class Server(ThreadingHTTPServer):
    """One thread for each connection, of which there are so many at most: a further one waits until another ends."""

    daemon_threads = True

    def __init__(self, address, subgraph):
        super().__init__(address, Handler)
        self.subgraph = subgraph
        self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)

    def process_request(self, request, client_address):
        self._free.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS

    def do_GET(self):
        """Answers the probe."""
        if self.path == "/livez":
            self._send(200, {"status": "ok"})
        else:
            self._send(404, {"errors": [{"message": "Not found."}]})

    def do_POST(self):
        """Answers a GraphQL request. The body is read only when its length is known and allowed."""
        length = self.headers.get("Content-Length", "")
        if self.path != "/graphql":
            self._refuse(404, "Not found.")
        elif not length.isdecimal():
            self._refuse(411, "The request needs a Content-Length.")
        elif int(length) > MAX_BODY_BYTES:
            self._refuse(413, "The body is larger than %d bytes." % MAX_BODY_BYTES)
        else:
            self._answer(self.rfile.read(int(length)))

    def _answer(self, body):
        try:
            result = self.server.subgraph.answer(json.loads(body))
        except (ValueError, RecursionError) as error:
            self._send(400, {"errors": [{"message": str(error)}]})
            return
        self._send(200, result)

    def _refuse(self, status, message):
        # What was not read would be taken as the next request.
        self.close_connection = True
        self._send(status, {"errors": [{"message": message}]})

    def _send(self, status, value):
        payload = json.dumps(value).encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_):
        """Logs nothing for a request: the gateway has its own log."""


def main():
    """Runs the server until SIGTERM or SIGINT."""
    data_file = os.environ.get("WAREHOUSES_FILE") or os.path.join(HERE, "warehouses.json")
    subgraph = Subgraph.read(os.path.join(HERE, "warehouses.graphql"), data_file)
    server = Server((os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "4012"))), subgraph)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    print("warehouses listens on http://%s:%d/graphql" % server.server_address, flush=True)
    server.serve_forever()
    server.server_close()


if __name__ == "__main__":
    main()
