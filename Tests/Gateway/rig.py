"""A slow, counting way to an upstream, a daemon with a gateway, and clients that are killed."""

import hashlib
import http.client
import http.server
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "Page"))
from servers import PATIENCE, Daemon, end  # noqa: E402

SEED = int(os.environ.get("GATEWAY_SEED", random.randrange(1 << 32)))
# Bytes per second of all responses of an upstream together.
RATE = 12_000_000


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, what):
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"{what} does not come")
        time.sleep(0.02)


class Slow:
    """An HTTP server: `answer(handler)` sends a response with `handler.give`; the bytes of contents are counted by path, and
    pass at `rate`."""

    def __init__(self, answer):
        self.sent, self.asked, self.rate = {}, [], RATE
        self.lock, self.free_at = threading.Lock(), 0
        slow = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                with slow.lock:
                    slow.asked.append((self.command, self.path, dict(self.headers.items())))
                try:
                    answer(self)
                except (BrokenPipeError, ConnectionResetError, http.client.HTTPException):
                    self.close_connection = True

            do_HEAD = do_GET

            def give(self, status, fields, pieces=()):
                self.send_response_only(status)
                for name, value in fields:
                    self.send_header(name, value)
                self.end_headers()
                if self.command == "HEAD":
                    return
                for piece in pieces:
                    slow.pay(len(piece))
                    self.wfile.write(piece)
                    with slow.lock:
                        path = self.path.split("?")[0]
                        slow.sent[path] = slow.sent.get(path, 0) + len(piece)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def pay(self, count):
        with self.lock:
            self.free_at = max(self.free_at, time.monotonic()) + count / self.rate
            wait = self.free_at - time.monotonic()
        if wait > 0:
            time.sleep(wait)

    def total(self):
        with self.lock:
            return sum(self.sent.values())

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def before(url, change=None):
    """A slow way to the server at `url`. With `change` a body is read whole and passed through it, with the handler."""
    host = url.split("/")[2]

    def answer(handler):
        connection = http.client.HTTPConnection(host, timeout=PATIENCE)
        try:
            names = {name.lower() for name in handler.headers} - {"connection"}
            fields = {name: ", ".join(handler.headers.get_all(name)) for name in names}
            connection.request(handler.command, handler.path, headers=fields)
            got = connection.getresponse()
            kept = [(n, v) for n, v in got.getheaders() if n.lower() not in ("connection", "transfer-encoding", "keep-alive")]
            if change:
                handler.give(got.status, kept, [change(handler, got.read())])
            elif got.getheader("Content-Length") is None and handler.command != "HEAD":
                body = got.read()
                handler.give(got.status, [*kept, ("Content-Length", str(len(body)))], [body])
            else:
                handler.give(got.status, kept, iter(lambda: got.read(65536), b""))
        finally:
            connection.close()

    return Slow(answer)


def made_bytes(count, seed):
    return random.Random(seed).randbytes(count)


class Gateway(Daemon):
    """ferry serve with a gateway; started again it has the same port."""

    def __init__(self, *upstreams, users=(), port=None):
        self.gateway_port = port or free_port()
        super().__init__(
            "--gateway", "--gateway-port", str(self.gateway_port),
            *(("--gateway-users", ",".join(users)) if users else ()),
            *(word for upstream in upstreams for word in ("--gateway-upstream", upstream)))

    @property
    def url(self):
        return f"http://127.0.0.1:{self.gateway_port}"


class Case(unittest.TestCase):
    """Servers of one test: `self.servers` has what is closed after it."""

    def setUp(self):
        self.servers = []
        self.folder = Path(tempfile.mkdtemp(prefix="ferry-gateway."))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.random = random.Random(SEED)
        print(f"{self.id()}: GATEWAY_SEED={SEED}", file=sys.stderr)

    def tearDown(self):
        for server in reversed(self.servers):
            server.close()

    def started(self, server):
        self.servers.append(server)
        return server

    def process(self, words, **options):
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, **options)
        self.addCleanup(end, process, signal.SIGKILL)
        return process

    def survives(self, upstream, gateway, size, start, kills=4):
        """Kills the client (`start` starts it), the daemon, or both when so much as chosen at random has come from the
        upstream, and starts them again. The last client must succeed; nothing that the disk held is fetched again."""
        marks = sorted(self.random.uniform(0.1, 0.9) * size for _ in range(kills))
        daemons = 0
        client = start()
        for mark in marks:
            wait_until(lambda: upstream.total() >= mark or client.poll() is not None, f"byte {mark:.0f}")
            whom = self.random.choice(["client", "daemon", "both"])
            if whom != "client":
                gateway.kill()
                daemons += 1
            end(client, signal.SIGKILL)
            if not gateway.is_running:
                gateway.start()
            client = start()
        self.succeeds(client, PATIENCE * 4)
        # What came in the last two seconds before a kill of the daemon may come again, and what was on its way.
        self.assertLessEqual(upstream.total(), size + daemons * (2 * RATE + (8 << 20)) + (1 << 20), f"{daemons} kills")

    def succeeds(self, process, patience=PATIENCE):
        self.assertEqual(process.wait(patience), 0, (self.folder / "log").read_text(errors="replace")[-4000:])

    @staticmethod
    def digest(data):
        return hashlib.sha256(data).hexdigest()
