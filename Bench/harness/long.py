"""Rows over long links: two network namespaces, with harness/link.c between them."""

import os
import subprocess
import threading
from contextlib import contextmanager
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
    words: str = ""  # The server's behaviour, for the title.
    socket: str = ""  # Parameters of nginx's `listen`, and directives of its location.
    rules: str = ""
    seconds: float = 3.5  # The time in which the link can transfer the file.

    @property
    def size(self):
        return int(self.rate * 1e6 / 8 * self.seconds / MEBIBYTE) * MEBIBYTE

    @property
    def title(self):
        words = [f"{self.round_trip} ms, {self.rate} Mbit/s", f"{self.loss} % lost" if self.loss else "", self.words]
        return ", ".join(word for word in words if word)

    @property
    def is_capped(self):
        """Whether the server, not the link, limits a connection."""
        return bool(self.socket or self.rules)

    @property
    def queue(self):
        """The size of the queue in KiB: the data that the link sends in a round trip, but at least in 20 ms."""
        return int(max(20, self.round_trip) * self.rate * 1000 / 8 / 1024)

    @property
    def settings(self):
        """The arguments of the link program."""
        return [str(self.round_trip), str(self.rate), str(self.queue), str(self.loss)]


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
                [str(program), self.near, self.far, *link.settings], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                text=True)
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

    def become(self, link):
        """Changes the link while it is used."""
        self._process.stdin.write(" ".join(link.settings) + "\n")
        self._process.stdin.flush()

    def other_server(self):
        """Another server at the far end, for traffic that is not part of the measurement."""
        return Nginx(self._field, name="nginx-other", address="192.0.2.2", inside=enter(self.far))

    def __exit__(self, *_):
        if hasattr(self, "nginx"):
            self.nginx.__exit__()
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait()
        for namespace in (self.near, self.far):
            subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL)


class OverLink(Row):
    """A row whose contenders and server are at the two ends of a link."""

    link = None

    def cannot_run(self, field):
        if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
            return "network namespaces and tun devices need root"
        return super().cannot_run(field)

    def run(self, field, nginx, programs, runs, seconds_left):
        with OpenLink(field, self.link) as self.open_link:
            return super().run(field, self.open_link.nginx, programs.inside(self.open_link.near), runs, seconds_left)


class Long(OverLink):
    """One file. `changes` are new states of the link, each with the number of seconds after the start of each download."""

    counts_connections = True

    def __init__(self, link, changes=(), words=""):
        self.link, self.changes, self.words = link, changes, words

    def title(self, field):
        return f"{self.link.title}, {self.words}" if self.words else self.link.title

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

    @contextmanager
    def meanwhile(self, field):
        timers = [threading.Timer(after, self.open_link.become, [link]) for after, link in self.changes]
        for timer in timers:
            timer.start()
        try:
            yield
        finally:
            for timer in timers:
                timer.cancel()
                timer.join()
            self.open_link.become(self.link)

    def gates(self, by_name):
        mine = by_name["ferry"]
        gates = [Gate("wall / best peer", ratio(mine.wall(), best_peer(by_name)), 1.0, 0.85)]
        # While the link is down, the server cannot detect that a connection has been closed.
        if all(link.loss < 100 for _, link in self.changes):
            gates.append(Gate("connections at once", mine.connections or None, 16, unit=""))
        if not self.link.is_capped:
            gates.append(Gate("wall / ferry -x 1", ratio(mine.wall(), wall(by_name, "ferry -x 1")), 1.03, 1.0))
        return gates


class Shared(Long):
    """Another download uses the link during every other period of this many seconds."""

    period = 1.5

    @contextmanager
    def meanwhile(self, field):
        over = threading.Event()
        with self.open_link.other_server() as other:
            url = other.url(field.sparse(1 << 30))
            command = [*enter(self.open_link.near), "curl", "-s", "-o", "/dev/null", "-m", str(self.period), url]

            def use():
                while not over.is_set():
                    process = subprocess.Popen(command)
                    while process.poll() is None and not over.wait(0.01):
                        pass
                    process.kill()
                    process.wait()
                    over.wait(self.period)

            user = threading.Thread(target=use)
            user.start()
            try:
                yield
            finally:
                over.set()
                user.join()


LONG = {
    "long-full": Long(Link(20, 100)),
    "long-fast": Long(Link(8, 500)),
    "long-ocean": Long(Link(120, 300, loss=0.05)),
    "long-lossy": Long(Link(80, 50, loss=1)),
    "long-window": Long(Link(100, 200, words="the server's send buffer is 64 KiB", socket=" sndbuf=64k")),
    "long-limited": Long(
        Link(60, 200, words="the server gives 1.5 MB/s to each connection", rules="limit_rate 1500000;")),
    "long-slower": Long(Link(60, 200), [(1.5, Link(60, 50))], "50 Mbit/s after 1.5 s"),
    "long-faster": Long(Link(60, 50, seconds=6), [(1.5, Link(60, 200))], "200 Mbit/s after 1.5 s"),
    "long-farther": Long(Link(30, 100), [(1.5, Link(150, 100))], "150 ms after 1.5 s"),
    "long-worse": Long(Link(60, 100), [(1.5, Link(60, 100, loss=0.5))], "0.5 % lost after 1.5 s"),
    "long-gone": Long(
        Link(50, 100), [(1.5, Link(50, 100, loss=100)), (6.5, Link(50, 100))], "gone for 5 s after 1.5 s"),
    "long-shared": Shared(Link(50, 100, seconds=6), words="another download half of the time"),
}
