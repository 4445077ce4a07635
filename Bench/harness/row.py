"""The procedure of every row: its contenders take turns, and their downloads are verified."""

import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import dataclass, field as attribute
from statistics import median

from harness.contender import Contender, Failure
from harness.nginx import ConnectionWatch
from harness.outcome import Outcome
from harness.size import GIBIBYTE, size_text

BIG = "big.bin"


@dataclass
class Result:
    """The result of one contender in one row."""

    contender: Contender
    costs: list = attribute(default_factory=list)
    served: list = attribute(default_factory=list)  # bytes of bodies that the server sent, by run
    connections: int = 0
    failure: str = None

    def wall(self):
        return median(cost.wall for cost in self.costs) if self.costs else None

    def cpu(self):
        return median(cost.cpu for cost in self.costs) if self.costs else None

    def memory(self):
        return max(cost.memory for cost in self.costs) if self.costs else None


def ratio(numerator, denominator):
    return numerator / denominator if numerator is not None and denominator else None


class Row:
    """One row of the table. Subclasses define what differs."""

    repeat = 1  # Short rows run more often than requested.
    counts_served = False
    counts_connections = False
    on_tmpfs = False

    def title(self, field):
        raise NotImplementedError

    def contenders(self):
        raise NotImplementedError

    def gates(self, by_name):
        raise NotImplementedError

    def room(self, field):
        """The bytes that must be free for it, in addition to the served files."""
        return field.size + GIBIBYTE

    def cannot_run(self, field):
        if self.on_tmpfs and field.tmpfs() is None:
            return "there is no tmpfs to write to"
        if field.free() < self.room(field):
            return f"{size_text(self.room(field))} of free space are needed"
        return None

    def source(self, field):
        """The file that is downloaded."""
        return field.big()

    def prepare(self, field, nginx, contender):
        """(words for the command line, {expected file: its source})."""
        source = self.source(field)
        words = {"url": nginx.url(source), "file": BIG, "ca": nginx.ca, "source": source, "list": ""}
        return words, {BIG: source}

    def remark(self, by_name):
        return ""

    def meanwhile(self, field):
        """What happens while a contender runs."""
        return nullcontext()

    def beforehand(self, field, programs, contender, directory, words):
        """Prepares the directory of a run before it is measured."""

    # ---- running

    def run(self, field, nginx, programs, runs, seconds_left):
        results = [Result(contender) for contender in self.contenders()]
        sources = set()
        for result in results:
            if programs.path(result.contender.arguments[0]) is None:
                result.failure = programs.absence(result.contender.arguments[0])
            sources.update(self.prepare(field, nginx, result.contender)[1].values())
        field.warm(sorted(path for path in sources if not path.name.startswith("zeros-")))

        # Round 0 is a warm-up and is not counted; its downloads are compared byte by byte.
        for turn in range(runs * self.repeat + 1):
            if turn > 1 and seconds_left() <= 0:
                print("bench: the time is up, fewer runs than asked", file=sys.stderr)
                break
            start = turn % len(results)
            for result in results[start:] + results[:start]:
                if result.failure is None:
                    self.once(field, nginx, programs, result, counted=turn > 0)
            if sys.stderr.isatty():
                print(f"\r  round {turn} of {runs * self.repeat}", end="", file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        by_name = {result.contender.name: result for result in results}
        return Outcome(results, self.gates(by_name), self.remark(by_name))

    def once(self, field, nginx, programs, result, counted):
        words, expected = self.prepare(field, nginx, result.contender)
        directory = field.fresh(field.tmpfs() if self.on_tmpfs else None)
        try:
            if words.get("list"):
                (directory / ".list").write_text(words["list"])
                words = {**words, "list": ".list"}
            self.beforehand(field, programs, result.contender, directory, words)
            os.sync()  # So that no contender pays for the unwritten data of the previous one.
            position = nginx.log_position()
            with ConnectionWatch(nginx) if self.counts_connections else nullcontext() as watch, self.meanwhile(field):
                cost = programs.run(result.contender, directory, field.home, words)
            self.verify(directory, expected, whole=not counted)
            if counted:
                result.costs.append(cost)
                if watch is not None:
                    result.connections = max(result.connections, watch.peak)
                if self.counts_served:
                    result.served.append(nginx.served_since(position))
        except Failure as failure:
            result.failure = str(failure)
            print(f"bench: {result.contender.name}: {failure}", file=sys.stderr)
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def verify(self, directory, expected, whole):
        for name, source in expected.items():
            path = directory / name
            if not path.exists():
                raise Failure(f"said that all is well, but {name} is missing")
            if path.stat().st_size != source.stat().st_size:
                raise Failure(f"{name} has {path.stat().st_size} bytes, not {source.stat().st_size}")
            if whole and subprocess.run(["cmp", "-s", str(path), str(source)]).returncode != 0:
                raise Failure(f"{name} has other bytes than what was served")


def wall(by_name, name):
    result = by_name.get(name)
    return result.wall() if result else None


def best_peer(by_name):
    """The shortest median wall time of the peers."""
    walls = [result.wall() for result in by_name.values() if result.contender.is_peer and result.costs]
    return min(walls, default=None)
