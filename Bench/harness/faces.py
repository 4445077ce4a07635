"""The rows of the interfaces: the cost of a long list for `ferry watch`, and the time until the page shows rows over a slow link."""

import ctypes
import fcntl
import json
import os
import pty
import re
import select
import shutil
import socket
import struct
import subprocess
import termios
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.contender import TIMEOUT, Failure
from harness.daemon import FOLDERS, serving
from harness.long import Link, OpenLink
from harness.outcome import Gate, Outcome
from harness.scale import ScaleRow, worst

ROOT = Path(__file__).resolve().parent.parent.parent
BATCH = 5_000


def fill(daemon, directory, count):
    """Adds this many downloads to the list; none of them runs."""
    for start in range(0, count, BATCH):
        daemon.ask("POST", "/downloads", {"downloads": [
            {"urls": [f"http://127.0.0.1:9/file-{number}"], "directory": str(directory / "files"), "startsPaused": True}
            for number in range(start, min(start + BATCH, count))]})


class Watching:
    """`ferry watch` on a terminal of 80 columns and 24 lines. Its output is kept with the time of its arrival."""

    COUNT = re.compile(r"(\d+) paused")
    SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

    def __init__(self, program, directory):
        self.paused = None  # The last number in its output.
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            variables = {name: str(directory / folder) for name, folder in FOLDERS.items()}
            os.execve(program, [program, "watch"], os.environ | variables | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.press("q")
            self.read(1)
        except (OSError, Failure):
            pass
        os.close(self.terminal)
        os.waitpid(self.process, 0)

    def cpu(self):
        return time.clock_gettime((~self.process << 3) | 2)

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def read(self, seconds, until=None):
        """Its output during this time, or until the condition holds for all output so far."""
        text, end = "", time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.terminal], [], [], left)[0]:
                break
            text += os.read(self.terminal, 1 << 16).decode(errors="replace")
            plain = self.SEQUENCE.sub("", text)
            if counts := self.COUNT.findall(plain):
                self.paused = int(counts[-1])
            if until is not None and until(plain):
                return text
        if until is not None:
            raise Failure("ferry watch does not show what it must")
        return text

    def until_paused(self, count, seconds=120):
        """Waits until it shows this number of paused downloads. Returns the time in seconds."""
        begun = time.monotonic()
        if self.paused != count:
            self.read(seconds, lambda _: self.paused == count)
        return time.monotonic() - begun


class Watched(ScaleRow):
    def __init__(self, count):
        self.count = count
        self.rounds = 3 if count < 50_000 else 1  # The larger one takes minutes.

    def title(self, field):
        return f"`ferry watch` on a list of {self.count:,} downloads"

    def once(self, directory, programs):
        with serving(directory, programs) as daemon:
            fill(daemon, directory, self.count)
            with Watching(programs.path("ferry"), directory) as watch:
                begun = time.monotonic()
                watch.read(120, lambda text: watch.COUNT.search(text))
                first = time.monotonic() - begun
                whole = first + watch.until_paused(self.count)
                watch.read(2)
                before, begun = watch.cpu(), time.monotonic()
                written = len(watch.read(10))
                still = (watch.cpu() - before) / (time.monotonic() - begun)
                return {
                    "first": first, "whole": whole, "still": still, "written": written, "key": self.answers(watch),
                    "behind": self.behind(daemon, watch, directory)} | self.flood(daemon, watch, directory)

    def answers(self, watch):
        """The longest time from a key to its effect, over keys that move and keys that search."""
        longest = 0
        for key in ["j"] * 10 + ["/f"] + list("ile-4999") + ["\x7f"] * 4 + ["\x1b"]:
            watch.read(0.3)
            begun = time.monotonic()
            watch.press(key)
            watch.read(30, lambda text: True)
            longest = max(longest, time.monotonic() - begun)
        return longest

    def behind(self, daemon, watch, directory):
        """The longest time from the response to an addition until the count includes it."""
        longest = 0
        for number in range(5):
            watch.read(0.5)
            daemon.ask("POST", "/downloads", {"downloads": [
                {"urls": [f"http://127.0.0.1:9/more-{number}"], "directory": str(directory / "files"),
                 "startsPaused": True}]})
            longest = max(longest, watch.until_paused(self.count + number + 1))
        return longest

    def flood(self, daemon, watch, directory):
        """5,000 more in one request: the time until it shows all of them, and the cost."""
        before, shown = watch.cpu(), []
        body = {"downloads": [
            {"urls": [f"http://127.0.0.1:9/flood-{number}"], "directory": str(directory / "files"), "startsPaused": True}
            for number in range(BATCH)]}
        answered = []

        def ask():
            daemon.ask("POST", "/downloads", body)
            answered.append(time.monotonic())

        asking = threading.Thread(target=ask)
        asking.start()
        text = watch.read(120, lambda _: watch.paused == self.count + 5 + BATCH)
        seen = time.monotonic()
        asking.join()
        shown = [int(count) for count in watch.COUNT.findall(watch.SEQUENCE.sub("", text))]
        return {
            "flood": max(0, seen - answered[0]), "floodCPU": watch.cpu() - before,
            "backwards": sum(later < sooner for sooner, later in zip(shown, shown[1:]))}

    def outcome(self, found):
        rows = [[
            "first picture", "whole list", "CPU of a still one", "written in 10 s", "key to answer", "one addition: behind",
            f"{BATCH:,} more: behind", "their CPU"]]
        rows += [[
            f"{each['first']:.2f} s", f"{each['whole']:.2f} s", f"{each['still'] * 100:.2f} %", f"{each['written']} B", f"{each['key'] * 1e3:.0f} ms",
            f"{each['behind'] * 1e3:.0f} ms", f"{each['flood']:.2f} s", f"{each['floodCPU']:.2f} s"] for each in found]

        def most(key, factor=1):
            value = worst(found, key)
            return None if value is None else value * factor

        return Outcome(
            [], [
                Gate("CPU of a still picture", most("still", 100), 5, 1, unit="%"),
                Gate("bytes written for a still picture in 10 s", most("written"), 0, unit="B"),
                Gate("longest time from a key to its answer", most("key", 1e3), 100, unit="ms"),
                Gate("one addition, until its count is shown", most("behind"), 1, unit="s"),
                Gate("counts that ran backwards", most("backwards"), 0, unit=""),
            ], remark="All downloads are paused, and the terminal has 80 columns and 24 lines. Keys move the selection and "
            "search. *Behind* is the time from the daemon's answer to the picture with the right count.",
            figures=rows, commands=["ferry watch"])


@dataclass
class SlowLink(Link):
    """The link of a phone with poor reception, with a queue for more than a second in front of it."""

    @property
    def queue(self):
        return 16


class Crossing:
    """A port of this machine whose connections cross the link, over TCP of both ends, to the same port at the far end."""

    def __init__(self, link, port):
        self.received, self._open = 0, []
        near = socket.create_server(("127.0.0.1", port))
        far = self._made_in(link.far, lambda: socket.create_server(("192.0.2.2", 0)))
        beyond = far.getsockname()
        self._serve(near, lambda: self._made_in(link.near, lambda: socket.create_connection(beyond)), counts=True)
        self._serve(
            far, lambda: self._made_in(link.far, lambda: socket.create_connection(("127.0.0.1", port))), counts=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _made_in(self, namespace, make):
        """A socket that was created in this network namespace, to which it stays bound."""
        made = []

        def enter():
            with open(f"/run/netns/{namespace}") as file:
                if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0) != 0:
                    return
            made.append(make())

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        if not made:
            raise Failure(f"no socket in {namespace}")
        return made[0]

    def _serve(self, listener, connect, counts):
        self._open.append(listener)

        def accept():
            while True:
                try:
                    one = listener.accept()[0]
                except OSError:
                    return
                threading.Thread(target=join, args=[one], daemon=True).start()

        def join(one):
            try:
                other = connect()
            except (OSError, Failure):
                return one.close()
            self._open += [one, other]
            threading.Thread(target=copy, args=[one, other, False], daemon=True).start()
            copy(other, one, counts)

        def copy(source, target, counts):
            try:
                while piece := source.recv(1 << 14):
                    if counts:
                        self.received += len(piece)
                    target.sendall(piece)
                target.shutdown(socket.SHUT_WR)
            except OSError:
                # One end has closed the connection: data in flight must not occupy the link.
                for one in (source, target):
                    with suppress(OSError):
                        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        one.shutdown(socket.SHUT_RD)
                        one.close()

        threading.Thread(target=accept, daemon=True).start()


class SlowPage(ScaleRow):
    listed = 3_000
    link = SlowLink(300, 0.096)

    def title(self, field):
        return f"The page over 12 KB/s and 300 ms, {self.listed:,} downloads"

    def cannot_run(self, field):
        if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
            return "network namespaces and tun devices need root"
        if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
            return "Chromium and chromedriver are needed"
        return super().cannot_run(field)

    def run(self, field, nginx, programs, runs, seconds_left):
        made = subprocess.run([ROOT / "Scripts/page-environment"], check=True, stdout=subprocess.PIPE, text=True)
        self.python = made.stdout.strip() + "/bin/python"
        with OpenLink(field, self.link) as self.open_link:
            return super().run(field, nginx, programs, runs, seconds_left)

    def once(self, directory, programs):
        subprocess.run(["ip", "-n", self.open_link.far, "link", "set", "lo", "up"], check=True)
        with serving(directory, programs.inside(self.open_link.far)) as daemon:
            fill(daemon, directory, self.listed)
            code = daemon.ask("POST", "/codes", {})["code"]
            with Crossing(self.open_link, daemon.port) as crossing:
                browser = subprocess.run(
                    [self.python, Path(__file__).with_name("first_rows.py"), str(directory / "profile"),
                     f"http://127.0.0.1:{daemon.port}/#code={code}"],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
                if browser.returncode != 0:
                    said = [line for line in browser.stderr.splitlines() if line.strip()]
                    raise Failure(next((line for line in said if "Error" in line or "Exception" in line), "no browser"))
                found = json.loads(browser.stdout)
                return found | {"bytes": crossing.received}

    def outcome(self, found):
        rows = [["the page", "first rows", "signed in, opened again: first rows", "received"]]
        rows += [[
            f"{each['page']:.1f} s", f"{each['rows']:.1f} s", f"{each['again']:.1f} s", f"{each['bytes'] / 1e3:.0f} KB"]
            for each in found]
        return Outcome(
            [], [
                Gate("first rows", worst(found, "rows"), 10, unit="s"),
                Gate("first rows, opened again", worst(found, "again"), 10, unit="s"),
            ], remark="Chromium opens the page with an empty cache and a sign-in code, then again. *The page* is the time until "
            "links can be entered.",
            figures=rows, commands=["ferry serve"])


FACES = {"watch": Watched(5_000), "watch-many": Watched(100_000), "slow-page": SlowPage()}
