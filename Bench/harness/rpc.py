"""The row of aria2's interface: the same calls to `ferry serve --aria2-rpc` and to aria2c."""

import http.client
import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from harness.contender import TIMEOUT, Failure
from harness.nginx import free_ports
from harness.outcome import Gate, Outcome
from harness.scale import ScaleRow, middle, origin

LISTED = 1_000
ASKED = 50
SECRET = "a-secret-for-measuring-alone"
KEYS = ["gid", "status", "totalLength", "completedLength", "downloadSpeed", "files"]


class Server:
    """A program that serves aria2's interface, and a connection to it that stays open."""

    def __init__(self, process, port):
        self.process = process
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)

    def call(self, method, *arguments):
        body = {"jsonrpc": "2.0", "id": 1, "method": "aria2." + method, "params": ["token:" + SECRET, *arguments]}
        self.connection.request("POST", "/jsonrpc", json.dumps(body))
        answer = json.loads(self.connection.getresponse().read())
        if "result" not in answer:
            raise Failure(f"{method}: {answer}"[:200])
        return answer["result"]

    def cpu(self):
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def resident(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise Failure("the server has ended")


@contextmanager
def serving(words, directory):
    """Yields a server that was started with these words, followed by the port."""
    [port] = free_ports(1)
    for name in ("state", "config", "run", "files"):
        (directory / name).mkdir(mode=0o700)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FERRY", "XDG_"))} | {
        "FERRY_STATE_DIR": str(directory / "state"), "XDG_CONFIG_HOME": str(directory / "config"),
        "XDG_RUNTIME_DIR": str(directory / "run"), "HOME": str(directory)}
    process = subprocess.Popen(
        [*words, str(port)], env=environment, cwd=directory / "files", stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        server = Server(process, port)
        until = time.monotonic() + 30
        while True:
            try:
                server.call("getVersion")
                break
            except OSError:
                server.connection.close()
                if time.monotonic() > until or process.poll() is not None:
                    raise Failure(f"{words[0]} does not start")
                time.sleep(0.05)
        yield server
        server.connection.close()
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Aria2Calls(ScaleRow):
    """Five downloads run, slowly; the others wait."""

    def title(self, field):
        return f"aria2's interface: {LISTED:,} calls of addUri, and the list of as many"

    def once(self, directory, programs):
        found = {}
        for name in ("ferry", "aria2c"):
            program = programs.path(name)
            if program is None:
                continue
            place = directory / name
            place.mkdir()
            with origin(programs) as url:
                found[name] = self.measured(self.words(name, program), url, place)
        if "ferry" not in found:
            raise Failure(f"ferry is {programs.absence('ferry')}")
        return found

    def words(self, name, program):
        if name == "ferry":
            return [program, "serve", "--no-loopback", "--aria2-secret", SECRET, "--aria2-rpc"]
        return [
            program, "-q", "--no-conf", "--enable-rpc", "--rpc-secret", SECRET, "--file-allocation=none",
            "--rpc-listen-port"]

    def measured(self, words, url, place):
        with serving(words, place) as server:
            server.call("changeGlobalOption", {"max-overall-download-limit": "100K"})
            begun, before = time.monotonic(), server.cpu()
            for number in range(LISTED):
                server.call("addUri", [f"{url}/file/1G/{number}"], {"out": f"file-{number}"})
            added, adding = time.monotonic() - begun, server.cpu() - before
            found, before = [], server.cpu()
            for _ in range(ASKED):
                begun = time.monotonic()
                items = server.call("tellActive", KEYS) + server.call("tellWaiting", 0, LISTED, KEYS)
                found.append(time.monotonic() - begun)
                if len(items) != LISTED:
                    raise Failure(f"{len(items)} are listed")
            return {
                "added": added, "adding": adding, "listed": median(found), "listing": (server.cpu() - before) / ASKED,
                "resident": server.resident()}

    def outcome(self, found):
        rows = [["", f"{LISTED:,} × addUri", "CPU", "tellActive and tellWaiting", "CPU", "resident"]]
        for each in found:
            rows += [[
                name, f"{one['added']:.2f} s", f"{one['adding']:.2f} s", f"{one['listed'] * 1e3:.1f} ms",
                f"{one['listing'] * 1e3:.1f} ms", f"{one['resident'] / 1e6:.0f} MB"] for name, one in each.items()]
        added, listed = middle(found, "ferry", "added"), middle(found, "ferry", "listed")
        return Outcome(
            [], [
                Gate("one addUri", added and added / LISTED * 1e3, 5, 1, unit="ms"),
                Gate("the list", listed and listed * 1e3, 50, 10, unit="ms"),
            ], remark="One connection, one call after the other; five downloads run, the others wait. Ferry has each download "
            "on the disk before it answers; aria2 keeps its list in memory.",
            figures=rows, commands=["ferry serve --aria2-rpc PORT", "aria2c --enable-rpc --rpc-listen-port PORT"])


RPC = {"aria2-rpc": Aria2Calls()}
