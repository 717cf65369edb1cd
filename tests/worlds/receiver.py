"""An app that gets webhooks, on a free port."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """An app that gets webhooks: `answer` says which status a call gets."""

    def __init__(self) -> None:
        self.calls: list[tuple[dict[str, str], bytes]] = []
        self.answer: Callable[[bytes], int] = lambda _: 204
        self.headers: dict[str, str] = {}
        self.busy = self.most_at_once = 0
        self.lock = threading.Lock()


@contextmanager
def receiver(host: str = "127.0.0.1") -> Iterator[tuple[str, Receiver]]:
    """On a free port of this machine."""
    app = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            with app.lock:
                app.busy += 1
                app.most_at_once = max(app.most_at_once, app.busy)
            status = app.answer(body)
            with app.lock:
                app.busy -= 1
                app.calls.append((headers, body))
            self.send_response(status)
            for name, value in app.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}/hook", app
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
