"""The rows of scale: the cost of many downloads in the library. There are no peers; `ferry-scale` reports its own usage."""

import json
import os
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager
from statistics import median

from harness.contender import TIMEOUT, Failure
from harness.outcome import Gate, Outcome
from harness.size import GIBIBYTE

MANY = 100_000


def many_files():
    """Raises the limit on open files to the maximum: one child process runs 1,000 downloads, another serves them."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def say(programs, *arguments):
    """One run of ferry-scale. Returns its line of JSON."""
    program = programs.path("ferry-scale")
    if program is None:
        raise Failure(f"ferry-scale is {programs.absence('ferry-scale')}")
    try:
        result = subprocess.run(
            [program, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT,
            preexec_fn=many_files)
    except subprocess.TimeoutExpired:
        raise Failure(f"{arguments[0]} took more than {TIMEOUT} s")
    if result.returncode != 0:
        said = [line for line in result.stderr.splitlines() if line.strip()]
        raise Failure(f"{arguments[0]}: exit {result.returncode}: {said[-1] if said else ''}"[:200])
    return json.loads(result.stdout.splitlines()[-1])


@contextmanager
def origin(programs):
    """The base URL of a private ferry-origin, which ends when its standard input is closed."""
    program = programs.path("ferry-origin")
    if program is None:
        raise Failure(f"ferry-origin is {programs.absence('ferry-origin')}")
    process = subprocess.Popen(
        [program, "serve", "--parent-watch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        preexec_fn=many_files)
    try:
        url = process.stdout.readline().strip().rstrip("/")
        if not url:
            raise Failure("ferry-origin does not start")
        yield url
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


class ScaleRow:
    """One section. Subclasses measure once per round with `once`, and evaluate the results with `outcome`."""

    rounds = 3  # The maximum; slow sections run less often.
    room = GIBIBYTE

    def cannot_run(self, field):
        return "there is too little free space" if field.free() < self.room else None

    def run(self, field, nginx, programs, runs, seconds_left):
        found = []
        for turn in range(min(runs, self.rounds)):
            if turn > 0 and seconds_left() <= 0:
                print("bench: the time is up, fewer runs than asked", file=sys.stderr)
                break
            directory = field.fresh()
            os.sync()
            try:
                found.append(self.once(directory, programs))
            except Failure as failure:
                print(f"bench: {failure}", file=sys.stderr)
                break
            finally:
                shutil.rmtree(directory, ignore_errors=True)
        return self.outcome(found)

    def title(self, field):
        raise NotImplementedError

    def once(self, directory, programs):
        raise NotImplementedError

    def outcome(self, found):
        raise NotImplementedError


def middle(found, *keys):
    """The median of a figure over the rounds; None if there is no value."""
    values = [reduced(each, keys) for each in found]
    return median(values) if values else None


def worst(found, *keys):
    values = [reduced(each, keys) for each in found]
    return max(values) if values else None


def reduced(value, keys):
    for key in keys:
        value = value[key]
    return value


def shown(number, text):
    return "–" if number is None else text.format(number)


class Listed(ScaleRow):
    def title(self, field):
        return f"{MANY:,} downloads in the catalogue"

    def once(self, directory, programs):
        there = ("--directory", directory)
        return {
            "add": say(programs, "add", MANY, *there),
            "open": say(programs, "open", *there),
            "idle": say(programs, "idle", *there),
        }

    def outcome(self, found):
        rows = [["", "wall", "CPU", "memory per download", "peak"]]
        for name, key, label in (
            ("add", "bytesEachHeld", "adding in one call, requests and handles held"),
            ("add", "bytesEachAfter", "the same, released"),
            ("add", "bytesEach", "the same, free memory returned (malloc_trim)"),
            ("open", "bytesEach", "opening"),
        ):
            peak = worst(found, name, "peakBytes")
            rows.append([
                label, shown(middle(found, name, "seconds"), "{:.2f} s"),
                shown(middle(found, name, "cpuSeconds"), "{:.2f} s"), shown(worst(found, name, key), "{:,.0f} B"),
                shown(peak and peak / 1e6, "{:.0f} MB")])
        page = middle(found, "open", "middlePageSeconds")
        rows.append(["50 handles from the middle", shown(page and page * 1e3, "{:.1f} ms"), "–", "–", "–"])
        idle = worst(found, "idle", "cpuSeconds")
        rows.append(["open for 10 s, idle", "–", shown(idle and idle * 1e3, "{:.1f} ms"), "–", "–"])
        return Outcome(
            [], [
                Gate("adding in one call", middle(found, "add", "seconds"), 10, unit="s"),
                Gate("opening", middle(found, "open", "seconds"), 2, unit="s"),
                Gate("memory in use per download, added", worst(found, "add", "bytesEach"), 1024, unit="B"),
                Gate("memory per download, opened", worst(found, "open", "bytesEach"), 1024, unit="B"),
                Gate("CPU in 10 s idle", None if idle is None else idle * 1e3, 1, 0, unit="ms"),
            ],
            remark="Memory in use is measured after `malloc_trim`; before it, free pages of the allocator are included.",
            figures=rows, commands=[
                f"ferry-scale add {MANY} --directory DIR", "ferry-scale idle --directory DIR",
                "ferry-scale open --directory DIR"])


class Next(ScaleRow):
    counts = (1_000, 10_000, 100_000)
    listed = (1_000, 100_000)

    def title(self, field):
        return f"Choice of the next download, with {self.counts[0]:,} to {self.counts[-1]:,} waiting"

    def once(self, directory, programs):
        found = {f"next {count}": say(programs, "next", count) for count in self.counts}
        with origin(programs) as url:
            for count in self.listed:
                found[f"turns {count}"] = say(programs, "turns", count, url, "--directory", directory / str(count))
        return found

    def outcome(self, found):
        rows = [["waiting", "a choice", "a pause and a resume", "a small download", "its CPU"]]
        for count in self.counts:
            row = [
                f"{count:,}", shown(middle(found, f"next {count}", "nanosecondsEach"), "{:,.0f} ns"),
                shown(middle(found, f"next {count}", "nanosecondsEachPauseAndResume"), "{:,.0f} ns")]
            for key in ("secondsEach", "cpuSecondsEach"):
                value = middle(found, f"turns {count}", key) if count in self.listed else None
                row.append(shown(value and value * 1e3, "{:.2f} ms"))
            rows.append(row)
        few, many = self.counts[0], self.counts[-1]

        def growth(name, key):
            values = [reduced(each, (f"{name} {many}", key)) / reduced(each, (f"{name} {few}", key)) for each in found]
            return median(values) if values else None

        return Outcome(
            [], [
                Gate("a choice, 100 times as many", growth("next", "nanosecondsEach"), 10, 3),
                Gate("a small download's CPU, 100 times as many", growth("turns", "cpuSecondsEach"), 3, 1.5),
            ], remark="A choice is the queue's decision alone; small downloads are complete downloads of 1 KB, one after "
            "the other.",
            figures=rows, commands=["ferry-scale next N", "ferry-scale turns N URL --directory DIR"])


class Running(ScaleRow):
    count = 1_000

    def title(self, field):
        return f"{self.count:,} downloads at once, 60 KB at 4 KB/s each"

    def once(self, directory, programs):
        with origin(programs) as url:
            found = say(programs, "run", self.count, url, "--directory", directory)
        files = sorted((directory / "files").iterdir())
        expected = directory / "expected"
        with open(expected, "wb") as file:
            subprocess.run([programs.path("ferry-origin"), "print", "--size", "60K"], stdout=file, check=True)
        whole = expected.read_bytes()
        found["whole"] = sum(path.read_bytes() == whole for path in files)
        if found.get("failure"):
            print(f"bench: {found['failure']}", file=sys.stderr)
        return found

    def outcome(self, found):
        rows = [["at once", "finished, byte by byte", "wall", "CPU", "peak memory"]]
        rows += [[
            str(each["peakRunning"]), str(min(each["finished"], each["whole"])), f"{each['seconds']:.1f} s",
            f"{each['cpuSeconds']:.1f} s", f"{each['peakBytes'] / 1e6:.0f} MB"] for each in found]
        peak = worst(found, "peakBytes")
        missing = [self.count - min(each["finished"], each["whole"], each["peakRunning"]) for each in found]
        return Outcome(
            [], [
                Gate("peak memory", peak and peak / 1e6, 150, unit="MB"),
                Gate("not run at once, or not finished", max(missing) if missing else None, 0, unit=""),
            ], figures=rows, commands=[f"ferry-scale run {self.count} URL --directory DIR"])


class Rate(ScaleRow):
    rounds = 1
    limits = (1_000_000, 20_000_000)
    room = 8 * GIBIBYTE

    def title(self, field):
        return "Rate limits, windows of 10 s"

    def once(self, directory, programs):
        found = []
        with origin(programs) as url:
            for limit in self.limits:
                for own in ([], ["--own"]):
                    place = directory / f"{limit}{''.join(own)}"
                    found.append(say(programs, "rate", limit, url, "--directory", place, *own))
                    shutil.rmtree(place, ignore_errors=True)
        return found

    def outcome(self, found):
        rows = [["limit", "of", "window", "received", "deviation"]]
        for line in found[0] if found else []:
            for window in line["windows"]:
                rows.append([
                    f"{window['limit'] / 1e6:.1f} MB/s", "one download" if line["isOwn"] else "the manager",
                    "after the change" if window["isChange"] else "steady",
                    f"{window['bytes'] / window['seconds'] / 1e6:.3f} MB/s", f"{window['deviation']:+.2f} %"])
        # Below 1 MB/s, there is no requirement.
        gates = []
        for label, is_change in (("steady", False), ("after a change", True)):
            off = [
                abs(window["deviation"]) for line in (found[0] if found else []) for window in line["windows"]
                if window["limit"] >= 1_000_000 and window["isChange"] == is_change]
            gates.append(Gate(f"largest deviation, {label}", max(off) if off else None, 5, 1, unit="%"))
        return Outcome([], gates, figures=rows, commands=[
            "ferry-scale rate BYTES URL --directory DIR", "ferry-scale rate BYTES URL --directory DIR --own"])


class Observed(ScaleRow):
    room = 6 * GIBIBYTE

    def title(self, field):
        return "Progress updates of an observer, at full speed"

    def once(self, directory, programs):
        with origin(programs) as url:
            return say(programs, "observe", url, "--directory", directory)

    def outcome(self, found):
        rows = [["speed", "wall", "changes of state", "progress", "a second", "most in any second"]]
        rows += [[
            f"{each['bytes'] / each['seconds'] / 1e6:,.0f} MB/s", f"{each['seconds']:.2f} s", str(each["changes"]),
            str(each["updates"]), f"{each['updatesPerSecond']:.1f}", str(each["mostInASecond"])] for each in found]
        return Outcome(
            [], [Gate("most progress updates in any second", worst(found, "mostInASecond"), 10, unit="")], figures=rows,
            commands=["ferry-scale observe URL --directory DIR"])


SCALE = {
    "scale-listed": Listed(),
    "scale-next": Next(),
    "scale-run": Running(),
    "scale-rate": Rate(),
    "scale-observe": Observed(),
}
