"""The server of a trial: a `ferry-origin` of its own, told over HTTP what its one path stands for."""

import http.client
import json
import subprocess

NAME = "file.bin"
PATH = f"/scene/{NAME}"


class Origin:
    """Runs from `start` to `stop`; ends by itself when this process is gone (its standard input is closed then)."""

    def __init__(self, program, arguments=()):
        self._program, self._arguments = str(program), list(arguments)
        self._process, self.url, self.port = None, None, 0

    def start(self):
        self._process = subprocess.Popen(
            [self._program, "serve", "--parent-watch", "--port", str(self.port), *self._arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(f"ferry-origin does not start: {self._process.stderr.read().strip()}")
        self.port = int(self.url.rstrip("/").rsplit(":", 1)[1])
        return self

    def stop(self):
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        self._process = None

    @property
    def _is_tls(self):
        return "--tls" in self._arguments

    def address(self, path=PATH):
        return self.url.rstrip("/") + path

    def _ask(self, path):
        if self._is_tls:
            import ssl
            context = ssl._create_unverified_context()  # Some of these certificates are wrong on purpose.
            connection = http.client.HTTPSConnection("localhost", self.port, timeout=30, context=context)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{path}: {answer.status} {text[:80]!r}")
            return text
        finally:
            connection.close()

    def set(self, target):
        """From now on the path answers as this target; a target that cannot be read is a mistake of the row."""
        self._ask(f"/set/{NAME}?{target}")

    def requests(self):
        return json.loads(self._ask("/requests"))["requests"]


def served(requests):
    """Bytes of content of a list of requests."""
    return sum(request["bodyBytes"] for request in requests)
