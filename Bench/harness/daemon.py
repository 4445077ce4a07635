"""The rows of the daemon: the cost of many entries, of many clients and of idling for `ferry serve`. There are no peers."""

import json
import os
import selectors
import signal
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from harness.contender import TIMEOUT, Failure
from harness.outcome import Gate, Outcome
from harness.scale import ScaleRow, many_files, middle, origin, shown, worst

LISTED = 10_000
# The layout of the daemon's and its clients' files, below a directory of the row.
FOLDERS = {"FERRY_STATE_DIR": "state", "XDG_CONFIG_HOME": "config", "XDG_RUNTIME_DIR": "run"}
PAGE = 100


class Daemon:
    """A daemon with its own state directory, which is controlled over its Unix socket."""

    def __init__(self, process, ready):
        self.process, self.socket, self.port = process, ready["socket"], ready["port"]

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(TIMEOUT)
        connection.connect(self.socket)
        return connection

    def ask(self, method, path, body=None):
        """One request on its own connection. Returns the response as JSON."""
        data = b"" if body is None else json.dumps(body).encode()
        with self.connect() as connection:
            connection.sendall(request(method, "/api/v1" + path, data))
            status, answer = answered(connection, bytearray())
        if status >= 300:
            raise Failure(f"{method} {path}: {status} {answer[:200]!r}")
        return json.loads(answer) if answer else None

    def cpu(self):
        """The CPU time of the process in seconds, including ended threads: the clock of clock_getcpuclockid(3)."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def resident(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise Failure("the daemon has ended")


def request(method, path, body=b""):
    head = f"{method} {path} HTTP/1.1\r\nHost: ferry\r\nContent-Length: {len(body)}\r\n"
    if body:
        head += "Content-Type: application/json\r\n"
    return (head + "\r\n").encode() + body


def answered(connection, rest):
    """Status and body of the next response; `rest` keeps the bytes after it."""
    while b"\r\n\r\n" not in rest:
        more(connection, rest)
    head, _, _ = bytes(rest).partition(b"\r\n\r\n")
    del rest[:len(head) + 4]
    fields = {}
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        fields[name.strip().lower()] = value.strip().lower()
    status = int(head.split(b" ", 2)[1])
    if fields.get(b"transfer-encoding") == b"chunked":
        return status, chunks(connection, rest)
    length = int(fields.get(b"content-length", b"0"))
    while len(rest) < length:
        more(connection, rest)
    body = bytes(rest[:length])
    del rest[:length]
    return status, body


def chunks(connection, rest):
    body = bytearray()
    while True:
        while b"\r\n" not in rest:
            more(connection, rest)
        line, _, _ = bytes(rest).partition(b"\r\n")
        size = int(line, 16)
        while len(rest) < len(line) + 2 + size + 2:
            more(connection, rest)
        body += rest[len(line) + 2:len(line) + 2 + size]
        del rest[:len(line) + 2 + size + 2]
        if size == 0:
            return bytes(body)


def more(connection, rest):
    piece = connection.recv(1 << 18)
    if not piece:
        raise Failure("the daemon has closed the connection")
    rest += piece


@contextmanager
def serving(directory, programs):
    program = programs.path("ferry")
    if program is None:
        raise Failure(f"ferry is {programs.absence('ferry')}")
    for name in ("state", "config", "run", "files"):
        (directory / name).mkdir(mode=0o700)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FERRY", "XDG_"))} | {
        name: str(directory / folder) for name, folder in FOLDERS.items()}
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [*programs.before, program, "serve", "--port", "0", "--ready-fd", str(writing)], env=environment, pass_fds=[writing],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=many_files)
    os.close(writing)
    try:
        with os.fdopen(reading) as pipe:
            ready = json.loads(pipe.readline() or "{}")
        if "socket" not in ready:
            raise Failure(f"ferry serve does not start: {ready}")
        yield Daemon(process, ready)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def list_many(daemon, directory):
    """Adds the measured number of downloads to the list; none of them runs."""
    daemon.ask("POST", "/downloads", {"downloads": [
        {"urls": [f"http://127.0.0.1:9/file-{number}"], "directory": str(directory / "files"), "startsPaused": True}
        for number in range(LISTED)]})


class Paged(ScaleRow):
    clients = 8
    asked = 10_000

    def title(self, field):
        return f"The daemon with {LISTED:,} downloads, pages of {PAGE}"

    def once(self, directory, programs):
        with serving(directory, programs) as daemon:
            list_many(daemon, directory)
            first, between = self.times(daemon, 0), self.times(daemon, LISTED // 2)
            same, turns = self.timed(daemon, [0]), self.timed(daemon, range(0, LISTED, PAGE))
            return {
                "first": first, "between": between, "seconds": same["seconds"], "same": same, "turns": turns,
                "resident": daemon.resident()}

    def timed(self, daemon, offsets):
        """The cost of all requests, which fetch the pages at these offsets in turn."""
        before, begun = daemon.cpu(), time.monotonic()
        self.rush(daemon, [request("GET", f"/api/v1/downloads?limit={PAGE}&offset={offset}") for offset in offsets])
        return {"seconds": time.monotonic() - begun, "cpu": daemon.cpu() - before}

    def times(self, daemon, offset):
        path = f"/downloads?limit={PAGE}&offset={offset}"
        found = []
        for _ in range(30):
            begun = time.monotonic()
            items = daemon.ask("GET", path)["items"]
            found.append(time.monotonic() - begun)
            if len(items) != PAGE:
                raise Failure(f"a page of {len(items)}")
        return median(found)

    def rush(self, daemon, lines):
        """All requests over a few connections, each with one request in flight."""
        failures = []

        def client(number):
            try:
                rest = bytearray()
                with daemon.connect() as connection:
                    for index in range(number, self.asked, self.clients):
                        connection.sendall(lines[index % len(lines)])
                        status, _ = answered(connection, rest)
                        if status != 200:
                            raise Failure(f"status {status}")
            except (Failure, OSError) as failure:
                failures.append(failure)

        threads = [threading.Thread(target=client, args=[number]) for number in range(self.clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise Failure(f"{failures[0]}")

    def outcome(self, found):
        rows = [[
            "the first page", "one in the middle", f"{self.asked:,} requests", "a second", "CPU of one",
            "other pages in turn: a second", "CPU of one", "resident"]]
        rows += [[
            f"{each['first'] * 1e3:.1f} ms", f"{each['between'] * 1e3:.1f} ms", f"{each['seconds']:.1f} s",
            f"{self.asked / each['seconds']:,.0f}", f"{each['same']['cpu'] / self.asked * 1e3:.2f} ms",
            f"{self.asked / each['turns']['seconds']:,.0f}", f"{each['turns']['cpu'] / self.asked * 1e3:.2f} ms",
            f"{each['resident'] / 1e6:.0f} MB"] for each in found]
        page = worst(found, "between")
        return Outcome(
            [], [
                Gate("one page", page and page * 1e3, 50, unit="ms"),
                Gate("10,000 requests of the list", middle(found, "seconds"), 10, unit="s"),
            ], remark=f"The {self.clients} clients, which parse nothing, run on the same two processors. They request the "
            "same page, like clients that watch a list; then all pages in turn, which are not cached.",
            figures=rows, commands=["ferry serve", f"GET /api/v1/downloads?limit={PAGE}&offset={LISTED // 2}"])


class Streamed(ScaleRow):
    clients = 100
    running = 50
    seconds = 20

    def title(self, field):
        return f"The daemon with {self.clients} clients of its event stream and {self.running} running downloads"

    def once(self, directory, programs):
        with origin(programs) as url, serving(directory, programs) as daemon:
            daemon.ask("PATCH", "/settings", {"maxConcurrentDownloads": self.running, "connectionsPerHost": self.running})
            daemon.ask("POST", "/downloads", {"downloads": [
                {"urls": [f"{url}/file/1G/{number}"], "directory": str(directory / "files"), "maxConnections": 1,
                 "rateLimit": 200_000} for number in range(self.running)]})
            # Without clients, to measure the cost of the downloads themselves.
            alone = self.share(daemon, 10, [])
            connections = [daemon.connect() for _ in range(self.clients)]
            for connection in connections:
                connection.sendall(request("GET", "/api/v1/events"))
            found = self.share(daemon, self.seconds, connections)
            for connection in connections:
                connection.close()
            return {"alone": alone["share"], "resident": daemon.resident()} | found

    def share(self, daemon, seconds, connections):
        """The share of one processor that the daemon used, and what the clients received meanwhile."""
        before, begun, count = daemon.cpu(), time.monotonic(), 0
        with selectors.DefaultSelector() as selector:
            for connection in connections:
                connection.setblocking(False)
                selector.register(connection, selectors.EVENT_READ)
            while (left := begun + seconds - time.monotonic()) > 0:
                if not connections:
                    time.sleep(left)
                    continue
                for key, _ in selector.select(left):
                    piece = key.fileobj.recv(1 << 18)
                    if not piece:
                        raise Failure("a stream was closed")
                    count += len(piece)
        passed = time.monotonic() - begun
        return {"share": (daemon.cpu() - before) / passed, "bytes": count / passed}

    def outcome(self, found):
        rows = [["", "of one processor", "sent to all", "resident"]]
        for each in found:
            rows.append(["no clients", f"{each['alone'] * 100:.0f} %", "–", "–"])
            rows.append([
                f"{self.clients} clients", f"{each['share'] * 100:.0f} %", f"{each['bytes'] / 1e6:.1f} MB/s",
                f"{each['resident'] / 1e6:.0f} MB"])
        share = middle(found, "share")
        return Outcome(
            [], [Gate("of one processor", share and share * 100, 50, unit="%")],
            remark="Each download is limited to 200 KB/s.", figures=rows,
            commands=["ferry serve", "GET /api/v1/events"])


class Idle(ScaleRow):
    def title(self, field):
        return "The idle daemon"

    def once(self, directory, programs):
        with serving(directory, programs) as daemon:
            daemon.ask("GET", "/downloads")
            time.sleep(3)  # The work of the start is done by then.
            before = daemon.cpu()
            time.sleep(10)
            return {"cpu": daemon.cpu() - before, "resident": daemon.resident()}

    def outcome(self, found):
        rows = [["CPU in 10 s", "resident"]]
        rows += [[f"{each['cpu'] * 1e3:.1f} ms", f"{each['resident'] / 1e6:.0f} MB"] for each in found]
        cpu, resident = worst(found, "cpu"), worst(found, "resident")
        return Outcome(
            [], [
                Gate("CPU in 10 s idle", None if cpu is None else cpu * 1e3, 10, 1, unit="ms"),
                Gate("resident memory", resident and resident / 1e6, 60, unit="MB"),
            ], figures=rows, commands=["ferry serve"])


DAEMON = {"daemon-list": Paged(), "daemon-stream": Streamed(), "daemon-idle": Idle()}
