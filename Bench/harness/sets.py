"""The rows of sets: a directory of small files that is copied from its index page, and a list of many servers."""

from harness.contender import Contender, Failure
from harness.nginx import Nginx
from harness.outcome import Gate
from harness.row import Row, best_peer, ratio, wall
from harness.size import GIBIBYTE

SYNC = "ferry sync --no-fsync"
AGAIN, TRUSTING = "ferry sync again", "ferry sync again, --trust-listing"


def sync(name, *options):
    return Contender(name, ["ferry", "sync", "-q", "-j", "16", *options, "{url}", "set"], is_peer=False)


def mirrors():
    """Other programs that copy a directory of a web server."""
    return [
        Contender(
            "rclone",
            ["rclone", "copy", "-q", "--transfers", "16", "--checkers", "16", "--http-url", "{url}", ":http:", "set"]),
        Contender("wget2", ["wget2", "-q", "-m", "-np", "-nd", "--max-threads=16", "-P", "set", "{url}"]),
        Contender("lftp", ["lftp", "-c", "mirror -P 16 {url} set"]),
        Contender("wget", ["wget", "-q", "-m", "-np", "-nd", "-P", "set", "{url}"]),
    ]


class Sync(Row):
    """A directory of small files, on tmpfs, from its index page."""

    on_tmpfs = True

    def title(self, field):
        return f"A directory of {field.count} files of 10 KiB by its index page, on tmpfs"

    def room(self, field):
        return GIBIBYTE

    def contenders(self):
        return [sync("ferry sync"), sync(SYNC, "--no-fsync"), *mirrors()]

    def prepare(self, field, nginx, contender):
        paths = field.many()
        words = {"url": nginx.url(paths[0].parent) + "/", "file": "", "list": "", "ca": ""}
        return words, {f"set/{path.name}": path for path in paths}

    def verify(self, directory, expected, whole):
        super().verify(directory, expected, whole=False)
        for name, source in expected.items() if whole else ():
            if (directory / name).read_bytes() != source.read_bytes():
                raise Failure(f"{name} has other bytes than what was served")

    def gates(self, by_name):
        return [
            Gate("not synced, wall / rclone", ratio(wall(by_name, SYNC), wall(by_name, "rclone")), 1.5),
            Gate("synced, wall / rclone", ratio(wall(by_name, "ferry sync"), wall(by_name, "rclone")), 2.0),
            Gate("not synced, wall / best peer", ratio(wall(by_name, SYNC), best_peer(by_name)), None, 1.0),
        ]


class SyncAgain(Sync):
    """The same once more, without changes. The first run is not measured."""

    def title(self, field):
        return f"{super().title(field)}, again: nothing has changed"

    def contenders(self):
        return [sync(AGAIN), sync(TRUSTING, "--trust-listing"), *mirrors()]

    def beforehand(self, field, programs, contender, directory, words):
        programs.run(contender, directory, field.home, words)

    def gates(self, by_name):
        return [
            Gate("--trust-listing, wall / rclone", ratio(wall(by_name, TRUSTING), wall(by_name, "rclone")), 1.5),
            Gate("every file asked for, wall / rclone", ratio(wall(by_name, AGAIN), wall(by_name, "rclone")), 3.0),
        ]


class Names(Row):
    """Small files of many servers: loopback addresses, each of which counts as a separate host."""

    on_tmpfs = True
    COUNT, SERVERS = 20_000, 950

    def title(self, field):
        return f"{self.COUNT:,} files of 10 KiB of {self.SERVERS} servers from a list, on tmpfs"

    def room(self, field):
        return GIBIBYTE

    def contenders(self):
        return [
            Contender("ferry", ["ferry", "get", "-q", "-j", "64", "-i", "{list}"], is_peer=False),
            Contender(
                "ferry --no-fsync", ["ferry", "get", "-q", "--no-fsync", "-j", "64", "-i", "{list}"], is_peer=False),
            Contender("wget2", ["wget2", "-q", "--max-threads=64", "-i", "{list}"]),
            Contender("curl", ["curl", "-sS", "--parallel", "--parallel-max", "64", "--config", "{list}"]),
            Contender("aria2c", ["aria2c", "-q", "--no-conf", "-j64", "--file-allocation=none", "-i", "{list}"]),
        ]

    def run(self, field, nginx, programs, runs, seconds_left):
        self.addresses = [f"127.7.{number // 250}.{number % 250 + 1}" for number in range(self.SERVERS)]
        with Nginx(field, name="nginx-names", others=self.addresses) as many:
            return super().run(field, many, programs, runs, seconds_left)

    def prepare(self, field, nginx, contender):
        paths = field.many(self.COUNT)
        urls = [nginx.url(path, address=self.addresses[at % self.SERVERS]) for at, path in enumerate(paths)]
        if contender.name == "curl":
            urls = [f'url = "{url}"\noutput = "{path.name}"' for url, path in zip(urls, paths)]
        words = {"list": "\n".join(urls) + "\n", "url": "", "file": "", "ca": ""}
        return words, {path.name: path for path in paths}

    def gates(self, by_name):
        return [
            Gate("not synced, wall / wget2", ratio(wall(by_name, "ferry --no-fsync"), wall(by_name, "wget2")), 1.5),
            Gate("synced, wall / wget2", ratio(wall(by_name, "ferry"), wall(by_name, "wget2")), None, 1.5),
        ]


SETS = {"sync": Sync(), "sync-again": SyncAgain(), "names": Names()}
