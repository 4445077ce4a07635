"""The rows: their downloads, contenders and requirements."""

import shutil
from statistics import median

from harness.contender import Contender, Failure, aria2, ferry, one_file_peers
from harness.daemon import DAEMON, FOLDERS, serving
from harness.faces import FACES
from harness.limits import Limits
from harness.long import LONG, Link, OverLink
from harness.outcome import Gate
from harness.row import BIG, Row, best_peer, ratio, wall
from harness.rpc import RPC
from harness.scale import SCALE
from harness.sets import SETS
from harness.size import GIBIBYTE, size_text


class Plain(Row):
    def title(self, field):
        return f"{size_text(field.size)}, plain, no fsync"

    def contenders(self):
        return [ferry("ferry --no-fsync", "--no-fsync"), *one_file_peers()]

    def gates(self, by_name):
        mine = by_name["ferry --no-fsync"]
        return [
            Gate("wall / best peer", ratio(mine.wall(), best_peer(by_name)), 0.9, 0.7),
            Gate("CPU / curl", ratio(mine.cpu(), by_name["curl"].cpu()), 0.85, 0.6),
        ]


class Synced(Row):
    def title(self, field):
        return f"{size_text(field.size)}, plain, with fsync (Ferry and dd; peers do not sync)"

    def contenders(self):
        dd = Contender(
            "dd fdatasync", ["dd", "bs=1M", "conv=fdatasync", "status=none", "if={source}", "of={file}"], is_peer=False)
        return [ferry("ferry"), dd, *one_file_peers()]

    def gates(self, by_name):
        mine = wall(by_name, "ferry")
        return [
            Gate("wall / dd with fdatasync", ratio(mine, wall(by_name, "dd fdatasync")), 0.85, 0.65),
            Gate("wall / best peer, which does not sync", ratio(mine, best_peer(by_name)), 1.0, 0.85),
        ]


class TLS(Row):
    def title(self, field):
        return f"{size_text(field.size)} over TLS, no fsync"

    def contenders(self):
        return [ferry("ferry --no-fsync", "--no-fsync", secure=True), *one_file_peers(secure=True)]

    def prepare(self, field, nginx, contender):
        words, expected = super().prepare(field, nginx, contender)
        return {**words, "url": nginx.url(field.big(), secure=True)}, expected

    def gates(self, by_name):
        return [Gate("wall / best peer", ratio(wall(by_name, "ferry --no-fsync"), best_peer(by_name)), 0.9, 0.75)]

    def remark(self, by_name):
        return (
            "URLSession does not take part: on Linux it has no option for a certificate authority. Neither has axel, which\n"
            "encrypts without verifying.")


class Limited(Row):
    counts_connections = True

    def title(self, field):
        return f"{size_text(field.size)}, the server gives 8 MiB/s to each connection"

    def contenders(self):
        return [
            ferry("ferry"),
            aria2("aria2c -x16", "-x16", "-s16", "-k1M"),
            Contender("axel -n 16", ["axel", "-q", "-n", "16", "-o", "{file}", "{url}"]),
        ]

    def prepare(self, field, nginx, contender):
        words, expected = super().prepare(field, nginx, contender)
        return {**words, "url": nginx.url(field.big(), limited=True)}, expected

    def gates(self, by_name):
        mine = by_name["ferry"]
        return [
            Gate("wall / aria2c -x16 -s16 -k1M", ratio(mine.wall(), wall(by_name, "aria2c -x16")), 1.15, 1.0),
            Gate("connections at once", mine.connections or None, 16, 16, unit=""),
        ]


class Unlimited(Row):
    counts_served = True
    counts_connections = True

    def title(self, field):
        return f"{size_text(field.size)} without a limit: cost of finding the number of connections"

    def contenders(self):
        return [ferry("ferry"), ferry("ferry -x 1", "-x", "1")]

    def prepare(self, field, nginx, contender):
        self.size = field.size
        return super().prepare(field, nginx, contender)

    def gates(self, by_name):
        mine = by_name["ferry"]
        served = max(mine.served) / self.size if mine.served else None
        return [
            Gate("wall / ferry -x 1", ratio(mine.wall(), wall(by_name, "ferry -x 1")), 1.05, 1.0),
            Gate("bytes served / size, worst run", served, 1.02),
        ]


class Many(Row):
    def __init__(self, on_tmpfs):
        self.on_tmpfs = on_tmpfs

    def title(self, field):
        return f"{field.count} files of 10 KiB from a list, on {'tmpfs' if self.on_tmpfs else 'disk'}, no fsync"

    def room(self, field):
        return GIBIBYTE

    def contenders(self):
        return [
            Contender(
                "ferry", ["ferry", "get", "-q", "--no-fsync", "-j", "16", "-i", "{list}"], is_peer=False),
            Contender("curl", ["curl", "-sS", "--parallel", "--parallel-max", "16", "--config", "{list}"]),
            Contender("wget", ["wget", "-q", "-i", "{list}"]),
            Contender("wget2", ["wget2", "-q", "--max-threads=16", "-i", "{list}"]),
            Contender("aria2c", ["aria2c", "-q", "--no-conf", "-j16", "--file-allocation=none", "-i", "{list}"]),
        ]

    def files(self, field):
        return field.many()

    def prepare(self, field, nginx, contender):
        paths = self.files(field)
        if contender.name == "curl":
            lines = [f'url = "{nginx.url(path)}"\noutput = "{path.name}"' for path in paths]
        else:
            lines = [nginx.url(path) for path in paths]
        return {"list": "\n".join(lines) + "\n", "url": "", "file": "", "ca": ""}, {path.name: path for path in paths}

    def verify(self, directory, expected, whole):
        super().verify(directory, expected, whole=False)
        if whole:
            for name, source in expected.items():
                if (directory / name).read_bytes() != source.read_bytes():
                    raise Failure(f"{name} has other bytes than what was served")

    def gates(self, by_name):
        mine, best = wall(by_name, "ferry"), best_peer(by_name)
        return [
            Gate("wall / curl --parallel", ratio(mine, wall(by_name, "curl")), 1.5),
            Gate("wall / wget2", ratio(mine, wall(by_name, "wget2")), 1.0),
            Gate("wall / aria2c -j16", ratio(mine, wall(by_name, "aria2c")), 1.0),
            Gate("wall / best peer", ratio(mine, best), None, 1.0),
        ]


class FarMany(OverLink, Many):
    def __init__(self, link):
        super().__init__(on_tmpfs=False)
        self.link = link

    def title(self, field):
        return f"{self.link.title}: 300 files of 100 KiB from a list"

    def contenders(self):
        return [contender for contender in super().contenders() if contender.name != "wget"]  # One after the other.

    def files(self, field):
        return field.many(300, 100 * 1024)

    def gates(self, by_name):
        return [Gate("wall / best peer", ratio(wall(by_name, "ferry"), best_peer(by_name)), 1.0, 0.8)]


class Small(Row):
    repeat = 5

    def title(self, field):
        return "One file of 10 KiB, the whole process"

    def room(self, field):
        return GIBIBYTE

    def contenders(self):
        aria2c = aria2("aria2c")
        return [
            ferry("ferry"), ferry("ferry --no-fsync", "--no-fsync"),
            Contender("curl", ["curl", "-sS", "-o", "{file}", "{url}"]),
            Contender("wget", ["wget", "-q", "-O", "{file}", "{url}"]),
            Contender("wget2", ["wget2", "-q", "-O", "{file}", "{url}"]),
            aria2c,
        ]

    def prepare(self, field, nginx, contender):
        source = field.small()
        return {"url": nginx.url(source), "file": "small.bin", "list": "", "ca": ""}, {"small.bin": source}

    def gates(self, by_name):
        mine = wall(by_name, "ferry")
        return [
            Gate("wall / aria2c", ratio(mine, wall(by_name, "aria2c")), 1.0),
            Gate("wall / curl", ratio(mine, wall(by_name, "curl")), 3.0, 1.0),
            Gate("wall", mine * 1000 if mine else None, 25, unit="ms"),
            Gate("highest peak", by_name["ferry"].memory() / 1e6 if by_name["ferry"].costs else None, 32, unit="MB"),
        ]


class Adding(Row):
    """`ferry add` with a running daemon. Each download is new, and does not start."""

    repeat = 10
    count = 0

    def title(self, field):
        return "`ferry add` to a running daemon, the whole process"

    def room(self, field):
        return GIBIBYTE

    def contenders(self):
        daemon = {name: f"{{daemon}}/{folder}" for name, folder in FOLDERS.items()}
        return [
            Contender("ferry add", ["ferry", "add", "--paused", "{url}"], environment=daemon, is_peer=False),
            Contender("ferry --version", ["ferry", "--version"], is_peer=False),
        ]

    def prepare(self, field, nginx, contender):
        self.count += 1
        url = f"{nginx.url(field.small())}?{self.count}"
        return {"url": url, "daemon": self.daemon, "file": "", "list": "", "ca": ""}, {}

    def run(self, field, nginx, programs, runs, seconds_left):
        self.daemon = field.fresh()
        try:
            with serving(self.daemon, programs):
                return super().run(field, nginx, programs, runs, seconds_left)
        finally:
            shutil.rmtree(self.daemon, ignore_errors=True)

    def gates(self, by_name):
        return [Gate("wall / ferry --version", ratio(wall(by_name, "ferry add"), wall(by_name, "ferry --version")), 4.0)]


class Memory(Row):
    def title(self, field):
        return f"Memory of Ferry, {size_text(field.size // 2)} against {size_text(field.size * 4)}, 16 connections"

    def room(self, field):
        return field.size * 4 + GIBIBYTE

    def contenders(self):
        return [ferry("ferry -x 16, small", "-x", "16"), ferry("ferry -x 16, large", "-x", "16")]

    def prepare(self, field, nginx, contender):
        source = field.sparse(field.size * 4 if contender.name.endswith("large") else field.size // 2)
        return {"url": nginx.url(source), "file": BIG, "list": "", "ca": ""}, {BIG: source}

    def gates(self, by_name):
        small, large = by_name["ferry -x 16, small"], by_name["ferry -x 16, large"]
        peaks = [median(cost.memory for cost in result.costs) for result in (small, large) if result.costs]
        if len(peaks) < 2:
            return [Gate("difference of the peaks", None, 10, unit="%"), Gate("peak", None, 64, 40, unit="MB")]
        return [
            Gate("difference of the peaks, medians", abs(peaks[1] / peaks[0] - 1) * 100, 10, unit="%"),
            Gate("highest peak", max(small.memory(), large.memory()) / 1e6, 64, 40, unit="MB"),
        ]


ROWS = {
    "plain": Plain(),
    "synced": Synced(),
    "tls": TLS(),
    "limited": Limited(),
    "unlimited": Unlimited(),
    "many-tmpfs": Many(on_tmpfs=True),
    "many-disk": Many(on_tmpfs=False),
    "small": Small(),
    "memory": Memory(),
    "add": Adding(),
    **SETS,
    **LONG,
    "long-many": FarMany(Link(50, 100)),
    "limits": Limits(),
    **SCALE,
    **DAEMON,
    **RPC,
    **FACES,
}

# Names of groups of rows.
GROUPS = {
    "sets": list(SETS), "long": [*LONG, "long-many"], "scale": list(SCALE), "daemon": [*DAEMON, *RPC], "faces": list(FACES),
}


def named(text):
    """The names of the rows in a comma-separated list, with groups expanded; unknown names stay as they are."""
    return [name for word in text.split(",") for name in GROUPS.get(word, [word])]
