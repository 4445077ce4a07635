"""Rows over long links: two network namespaces, with harness/link.c between them."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.contender import Contender, aria2, enter, ferry
from harness.nginx import Nginx
from harness.outcome import Gate
from harness.row import Row, best_peer, ratio, wall
from harness.size import MEBIBYTE


@dataclass
class Link:
    round_trip: int  # milliseconds
    rate: int  # Mbit/s
    loss: float = 0  # percent
    words: str = ""  # What the server does, for the title.
    socket: str = ""  # Words of nginx's `listen`, and of its location.
    rules: str = ""
    seconds: float = 3.5  # The time that the line needs for the file.

    @property
    def size(self):
        return int(self.rate * 1e6 / 8 * self.seconds / MEBIBYTE) * MEBIBYTE

    @property
    def title(self):
        words = [f"{self.round_trip} ms, {self.rate} Mbit/s", f"{self.loss} % lost" if self.loss else "", self.words]
        return ", ".join(word for word in words if word)

    @property
    def is_capped(self):
        """Whether the server, not the line, limits a connection."""
        return bool(self.socket or self.rules)

    @property
    def queue(self):
        """KiB that wait in front of the line: what it sends in a round trip, and in no less than 20 ms."""
        return int(max(20, self.round_trip) * self.rate * 1000 / 8 / 1024)


class OpenLink:
    """A link in use: its namespaces, the program between them, and a server at its far end."""

    def __init__(self, field, link):
        self._field, self._link = field, link
        self.near, self.far = (f"ferry-bench-{os.getpid()}-{end}" for end in ("near", "far"))
        self._process = None

    def __enter__(self):
        program, link = self._field.directory / "link", self._link
        source = Path(__file__).with_name("link.c")
        subprocess.run(["cc", "-O2", "-o", str(program), str(source)], check=True)
        try:
            for namespace in (self.near, self.far):
                subprocess.run(["ip", "netns", "add", namespace], check=True)
            self._process = subprocess.Popen(
                [str(program), self.near, self.far, str(link.round_trip), str(link.rate), str(link.queue),
                 str(link.loss)], stdout=subprocess.PIPE, text=True)
            if self._process.stdout.readline() != "ready\n":
                raise SystemExit("bench: the link does not start")
            self.nginx = Nginx(
                self._field, name="nginx-far", address="192.0.2.2", inside=enter(self.far), socket=link.socket,
                rules=link.rules)
            self.nginx.__enter__()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if hasattr(self, "nginx"):
            self.nginx.__exit__()
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
        for namespace in (self.near, self.far):
            subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL)


class Long(Row):
    counts_connections = True

    def __init__(self, link):
        self.link = link

    def title(self, field):
        return self.link.title

    def cannot_run(self, field):
        if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
            return "network namespaces and tun devices need root"
        return super().cannot_run(field)

    def room(self, field):
        return self.link.size * 3

    def contenders(self):
        many = [
            ferry("ferry"),
            aria2("aria2c -x16", "-x16", "-s16", "-k1M"),
            Contender("axel -n 16", ["axel", "-q", "-n", "16", "-o", "{file}", "{url}"]),
        ]
        if self.link.is_capped:
            return many  # One connection would take many times as long.
        return [*many, ferry("ferry -x 1", "-x", "1"), Contender("curl", ["curl", "-sS", "-o", "{file}", "{url}"])]

    def source(self, field):
        return field.random(self.link.size)

    def run(self, field, nginx, programs, runs, seconds_left):
        with OpenLink(field, self.link) as link:
            return super().run(field, link.nginx, programs.inside(link.near), runs, seconds_left)

    def gates(self, by_name):
        mine = by_name["ferry"]
        gates = [
            Gate("wall / best peer", ratio(mine.wall(), best_peer(by_name)), 1.0, 0.85),
            Gate("connections at once", mine.connections or None, 16, unit=""),
        ]
        if not self.link.is_capped:
            gates.append(Gate("wall / ferry -x 1", ratio(mine.wall(), wall(by_name, "ferry -x 1")), 1.03, 1.0))
        return gates


LONG = {
    "long-full": Long(Link(20, 100)),
    "long-fast": Long(Link(8, 500)),
    "long-ocean": Long(Link(120, 300, loss=0.05)),
    "long-lossy": Long(Link(80, 50, loss=1)),
    "long-window": Long(Link(100, 200, words="the server's send buffer is 64 KiB", socket=" sndbuf=64k")),
    "long-limited": Long(
        Link(60, 200, words="the server gives 1.5 MB/s to each connection", rules="limit_rate 1500000;")),
}
