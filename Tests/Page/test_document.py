"""The OpenAPI document, tried with a property tester: whatever is sent, no route fails by itself, and none gives an answer that
the document does not describe."""

import os
import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from servers import Daemon, Origin

# What is not tried, and why.
LEFT_OUT = {
    "events": "never ends; its events are compared with the document by the suite DocumentTests",
}
# Not among them: allow_header_conformance. A word of the table is an identifier too (`GET /downloads/pause` shows the download of that
# name), so that Allow names more than the document does for the word alone.
CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    "response_headers_conformance", "unsupported_method", "ignored_auth",
]
EXAMPLES = os.environ.get("DOCUMENT_EXAMPLES", "40")
SEED = os.environ.get("DOCUMENT_SEED", "1")


class Bridge:
    """Leads TCP on loopback to a Unix socket, for a tool that knows no sockets of files."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            daemon = socket.socket(socket.AF_UNIX)
            daemon.connect(self.path)
            for one, other in ((client, daemon), (daemon, client)):
                threading.Thread(target=self.copy, args=(one, other), daemon=True).start()

    @staticmethod
    def copy(source, goal):
        try:
            while piece := source.recv(65536):
                goal.sendall(piece)
            goal.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (source, goal):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        self.listener.close()


class Document(unittest.TestCase):
    def setUp(self):
        self.origin, self.daemon = Origin(), Daemon()
        self.addCleanup(self.origin.stop)
        self.addCleanup(self.daemon.close)

    def explore(self, port, *arguments):
        listed = [
            self.daemon.add(self.origin.file("1k", f"listed{index}"), startsPaused=index % 2 == 0) for index in range(6)]
        left_out = [word for name in LEFT_OUT for word in ("--exclude-operation-id", name)]
        result = subprocess.run(
            [
                str(Path(sys.executable).with_name("st")), "run", f"http://127.0.0.1:{port}/api/v1/openapi.json",
                "--url", f"http://127.0.0.1:{port}/api/v1", "--checks", ",".join(CHECKS), "--seed", SEED,
                "--max-examples", EXAMPLES, "--phases", "examples,coverage,fuzzing", "--continue-on-failure",
                "--generation-database", "none", "--request-timeout", "60", "--suppress-health-check", "all",
                "--warnings", "off", "--no-color", *left_out, *arguments,
            ],
            cwd=self.daemon.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={
                **os.environ, "SCHEMATHESIS_HOOKS": "document_hooks", "PYTHONPATH": str(Path(__file__).parent),
                "DOCUMENT_ORIGIN": self.origin.base, "DOCUMENT_FOLDER": str(self.daemon.downloads),
                "DOCUMENT_LISTED": " ".join(listed),
            })
        self.assertEqual(result.returncode, 0, result.stdout[-20_000:])
        # It is as well as before, and nothing that was sent made it fail by itself.
        self.assertTrue(self.daemon.is_running)
        self.assertNotIn("a request failed", (self.daemon.folder / "log").read_text())
        return result.stdout

    def test_through_the_unix_socket_every_answer_is_as_the_document_says(self):
        bridge = Bridge(self.daemon.socket)
        self.addCleanup(bridge.close)
        self.explore(bridge.port, "--exclude-checks", "ignored_auth")

    def test_over_tcp_with_a_token_every_answer_is_as_the_document_says(self):
        token = self.daemon.sign_in()
        # A browser that is signed out by a made-up identifier would be this one, once in 2^64 times.
        self.explore(self.daemon.port, "--header", f"Authorization: Bearer {token}")
