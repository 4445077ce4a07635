"""The servers that the page is tried against: an origin, and a daemon with a state of its own."""

import http.client
import http.server
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A busy machine is slow; what takes longer than this does not come any more.
PATIENCE = float(os.environ.get("PAGE_PATIENCE", "60"))


def program(name):
    given = os.environ.get({"ferry": "FERRY", "ferry-origin": "FERRY_ORIGIN"}[name])
    path = Path(given) if given else ROOT / ".build" / "debug" / name
    if not os.access(path, os.X_OK):
        raise SystemExit(f"there is no {path}: build it first")
    return str(path)


def own_environment(folder):
    """That of this process, with every place of Ferry below `folder` and no proxy."""
    kept = {
        name: value for name, value in os.environ.items()
        if not name.lower().endswith("_proxy") and not name.startswith(("FERRY", "XDG_"))
    }
    for name in ("state", "config", "run", "home"):
        (folder / name).mkdir(mode=0o700, exist_ok=True)
    return kept | {
        "HOME": str(folder / "home"), "FERRY_STATE_DIR": str(folder / "state"),
        "FERRY_SOCKET": str(folder / "run" / "ferry.sock"), "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CONFIG_HOME": str(folder / "config"), "XDG_RUNTIME_DIR": str(folder / "run"), "LC_ALL": "C.UTF-8",
    }


def end(process, number=signal.SIGTERM):
    """Ends a process that was started here, and waits for it."""
    if process is None or process.poll() is not None:
        return
    process.send_signal(number)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def line_of(descriptor, process):
    """The first line that comes; fails when the process ends before, or nothing comes."""
    until = time.monotonic() + PATIENCE
    text = b""
    while not text.endswith(b"\n"):
        ready, _, _ = select.select([descriptor], [], [], max(0, until - time.monotonic()))
        piece = os.read(descriptor, 65536) if ready else b""
        if not piece:
            raise AssertionError(f"{process.args[0]} said {text!r} and no more (exit {process.poll()})")
        text += piece
    return text.decode()


class Origin:
    """ferry-origin: files that are made up by their URL."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [program("ferry-origin"), "serve", "--parent-watch", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.base = line_of(self.process.stdout.fileno(), self.process).strip().rstrip("/")

    def file(self, size, name, query=""):
        return f"{self.base}/file/{size}/{name}" + (f"?{query}" if query else "")

    def bytes(self, size, seed=1):
        """What a file of that many bytes holds."""
        return subprocess.run(
            [program("ferry-origin"), "print", "--seed", str(seed), "--size", str(size)],
            check=True, stdout=subprocess.PIPE).stdout

    @property
    def authority(self):
        """The certificate that proves those of origins, in PEM form."""
        return subprocess.run([program("ferry-origin"), "ca", "-"], check=True, stdout=subprocess.PIPE, text=True).stdout

    def stop(self):
        end(self.process)
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()


class Listener:
    """An HTTP server of one test: `answer(path, headers)` gives status, headers and bytes; `asked` has the headers."""

    def __init__(self, answer):
        self.asked = asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append({name.lower(): value for name, value in self.headers.items()})
                status, headers, body = answer(self.path, dict(self.headers))
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body)), "Connection": "close"}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Gate:
    """Another address of this machine, with the daemon's port, whose connections lead to the daemon. What asks for a path that begins
    with `path` is held back until the gate is opened, or treated as `outcome` says: `broken` ends its connection, `gone` has it 404."""

    HOST, MEANT = b"127.0.0.2", b"127.0.0.1"  # Of one length: requests keep theirs.

    def __init__(self, daemon, path, outcome="held"):
        self.path, self.outcome, self.port = path.encode(), outcome, daemon.port
        self.asked, self._near = [], []
        self._opened = threading.Event()
        self._listener = socket.create_server((self.HOST.decode(), daemon.port))
        self.page = f"http://{self.HOST.decode()}:{daemon.port}/"
        threading.Thread(target=self._accept, daemon=True).start()

    def open(self):
        """From now on all is passed on, and what was held back goes on."""
        self.outcome = "open"
        self._opened.set()

    def close(self):
        self.open()
        # Also the wait for a connection, which would keep the port, and connections that a browser would use again.
        for one in (self._listener, *self._near):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._listener.close()

    def _accept(self):
        while True:
            try:
                near = self._listener.accept()[0]
            except OSError:
                return
            self._near.append(near)
            threading.Thread(target=self._serve, args=[near], daemon=True).start()

    def _serve(self, near):
        far = socket.create_connection((self.MEANT.decode(), self.port))
        threading.Thread(target=self._pass, args=[far, near, lambda piece: piece], daemon=True).start()
        self._pass(near, far, self._request)

    def _pass(self, source, target, changed):
        try:
            while piece := source.recv(65536):
                piece = changed(piece)
                if not piece:
                    break
                target.sendall(piece)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _request(self, piece):
        """What the daemon gets of it; nothing, where the connection ends."""
        words = piece.split(b" ", 2)
        if len(words) == 3 and words[1].startswith(self.path):
            self.asked.append(words[1].decode())
            if self.outcome == "held":
                self._opened.wait()
            elif self.outcome == "broken":
                return b""
            elif self.outcome == "gone":
                piece = b" ".join([words[0], words[1] + b".of-another-version", words[2]])
        return piece.replace(self.HOST, self.MEANT)


def forward(url, headers):
    """What a proxy does."""
    target = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(target.hostname, target.port, timeout=PATIENCE)
    try:
        connection.request("GET", f"{target.path}?{target.query}", headers=headers)
        answer = connection.getresponse()
        kept = {name: value for name, value in answer.getheaders() if name.lower() not in ("connection", "transfer-encoding")}
        return answer.status, kept, answer.read()
    finally:
        connection.close()


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status} {body}")
        self.status, self.body = status, body


class SocketConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("127.0.0.1", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Daemon:
    """ferry serve, with a state of its own; killed and started again it has the same port."""

    def __init__(self, *options):
        self.options = options
        # Sockets' paths are short.
        self.folder = Path(tempfile.mkdtemp(prefix="ferry-page.", dir=os.environ.get("TMPDIR", "/tmp")))
        self.downloads = self.folder / "downloads"
        self.downloads.mkdir()
        self.environment = own_environment(self.folder)
        self.log = open(self.folder / "log", "ab")
        self.process = None
        self.port = 0
        self.start()

    def start(self):
        reading, writing = os.pipe()
        try:
            self.process = subprocess.Popen(
                [program("ferry"), "serve", "--port", str(self.port), "--dir", str(self.downloads),
                 "--ready-fd", str(writing), *self.options],
                env=self.environment, pass_fds=[writing], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                cwd=self.folder)
            os.close(writing)
            writing = None
            ready = json.loads(line_of(reading, self.process))
        finally:
            for descriptor in (reading, writing):
                if descriptor is not None:
                    os.close(descriptor)
        if "error" in ready:
            raise AssertionError(f"the daemon does not listen: {ready}")
        self.socket, self.port, self.aria2_port = ready["socket"], ready["port"], ready.get("aria2Port")

    @property
    def page(self):
        return f"http://127.0.0.1:{self.port}/"

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """As a power cut would end it: without a word."""
        end(self.process, signal.SIGKILL)

    def stop(self):
        end(self.process)

    def close(self):
        self.stop()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # The API, over the Unix socket.

    def call(self, method, path, body=None):
        connection = SocketConnection(self.socket)
        try:
            connection.request(
                method, "/api/v1" + path, None if body is None else json.dumps(body),
                {"Content-Type": "application/json"} if method != "GET" else {})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        value = json.loads(text) if text else None
        if answer.status >= 300:
            raise Refused(answer.status, value)
        return value

    def code(self):
        return self.call("POST", "/codes", {})["code"]

    def sign_in(self):
        """A token for TCP, as the page gets one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(
                "POST", "/api/v1/login", json.dumps({"code": self.code()}), {"Content-Type": "application/json"})
            return json.loads(connection.getresponse().read())["token"]
        finally:
            connection.close()

    def add(self, url, **options):
        return self.call("POST", "/downloads", {"urls": [url], **options})["id"]

    def show(self, identifier):
        return self.call("GET", f"/downloads/{identifier}")

    def items(self):
        return self.call("GET", "/downloads?limit=1000")["items"]

    def sets(self):
        return self.call("GET", "/sets")["items"]

    def named(self, name):
        """The download that has this name now."""
        return next((item for item in self.items() if item["name"] == name), None)

    def forget(self):
        """Starts anew, with nothing that was."""
        self.kill()
        for name in ("state", "config"):
            shutil.rmtree(self.folder / name)
            (self.folder / name).mkdir(mode=0o700)
        self.start()

    def settle(self):
        """An empty list, and the settings of a new daemon."""
        if not self.is_running:
            self.start()
        if self.call("GET", "/downloads?limit=1")["total"] > 500:
            self.forget()
        for each in self.sets():
            self.call("DELETE", f"/sets/{each['id']}")
        while items := self.items():
            for item in items:
                try:
                    self.call("DELETE", f"/downloads/{item['id']}?deleteFile=true")
                except Refused as refused:
                    if refused.status != 404:
                        raise
        self.call("PATCH", "/settings", {
            "directory": str(self.downloads), "maxConcurrentDownloads": 3, "rateLimit": None, "allowsMetered": True,
            "networkAssumption": None})
        for path in self.downloads.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
