"""One row with one program: runs it in a fresh directory, and judges what it left."""

import hashlib
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from peers.origin import NAME, PATH, Origin, served

LIMIT = 30  # Seconds for one run; what runs longer hangs.
LEAVE = 10  # Seconds to leave after SIGINT or SIGTERM; then it is killed.
CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGILL, signal.SIGBUS, signal.SIGFPE, signal.SIGTRAP}
# What a program keeps beside an unfinished file: never taken for a result.
UNFINISHED = (".part", ".part.ferry", ".part.old", ".part.ferry.old", ".aria2", ".aria2__temp")


@dataclass
class Ending:
    """How a run ended."""

    code: int
    timed_out: bool
    seconds: float
    said: str

    @property
    def crashed(self):
        return not self.timed_out and self.code < 0 and -self.code in CRASHES

    def text(self):
        if self.timed_out:
            return f"stopped after {self.seconds:.0f} s"
        return f"signal {-self.code}" if self.code < 0 else f"exit {self.code}"


@dataclass
class Result:
    verdict: str
    detail: str = ""
    fetched: int = 0  # Bytes of content that the server sent in all.
    log: list = field(default_factory=list)


class Trial:
    def __init__(self, row, tool, programs, contents, root):
        self.row, self.tool, self.contents = row, tool, contents
        self._programs = programs
        self.root = root
        self.place = root / "downloads" / "here"  # Two levels: what goes out of it still stays in `root`.
        self.home = root / "home"
        self.origin = Origin(programs["ferry-origin"], [*(["--tls"] if row.is_tls else []), *row.server])
        self.other = Origin(programs["ferry-origin"])
        self.log, self._processes, self.mounted = [], [], False

    # ---- the course of a trial

    def run(self):
        shutil.rmtree(self.root, ignore_errors=True)
        for directory in (self.place, self.home):
            directory.mkdir(parents=True)
        try:
            self.other.start()
            self.origin.start()
            self.other.set(self.row.healthy())
            result = self._course()
            result.log = self.log
            return result
        finally:
            for process in self._processes:
                self._kill(process)
            self.origin.stop()
            self.other.stop()
            if self.mounted:
                subprocess.run(["umount", str(self.place)], check=False)

    def _course(self):
        row = self.row
        if row.prepare:
            row.prepare(self)
        for interruption in row.first:
            self._set(interruption.target)
            for _ in range(10):
                self._interrupted(interruption)
                if not interruption.exact or self._holds(interruption.mark):
                    break
                self.log.append("  lost the end of what it had read: from the beginning")
                for path in self.place.iterdir():
                    path.unlink()
            else:
                self._hold(interruption)
        if row.completes_before:
            self._set(row.healthy())
            self._finished(self._start())
        if row.between:
            row.between(self)
        self._set(row.target)
        if row.is_down:
            self.origin.stop()
        runs = [self._start()]
        if row.twins:
            time.sleep(1)  # The second comes while the first one is at it.
            runs.append(self._start())
        if row.during:
            row.during(self, runs[0])
        endings = [self._finished(process) for process in runs]
        result = self._judge(endings)
        if not row.is_down:
            result.fetched = self._fetched()
        if result.verdict == "error" and not row.must_refuse:
            self._after_error(result)
        return result

    def _set(self, target):
        if not self.row.is_direct:
            target = target.replace("{other}", self.other.address()).replace("{root}", str(self.root))
            self.log.append(f"the server: {target}")
            self.origin.set(target)

    def _after_error(self, result):
        """The server is well again, and the same command is run once more: what it makes of what it left decides."""
        if self.row.is_down:
            self.origin.start()
        if self.row.heal:
            self.row.heal(self)
        self._set(self.row.healthy())
        again = self._judge([self._finished(self._start())])
        result.verdict = f"error, {again.verdict}"
        if again.verdict != "right":
            result.detail = f"{result.detail}; afterwards {again.detail}"
        result.fetched = self._fetched()

    # ---- processes

    def wanted(self):
        wanted = replace(self.row.wanted, ca=str(self._programs["ca"]) if self.row.is_tls else None)
        if wanted.checks:
            wanted = replace(wanted, sha256=hashlib.sha256(self.contents.bytes(self.row.right[0])).hexdigest())
        return wanted

    def url(self):
        return self.origin.address(self.row.target if self.row.is_direct else PATH)

    def _start(self):
        arguments = self.tool.command(self.url(), self.wanted())
        self.log.append(f"$ {self.tool.program} {' '.join(arguments)}")
        number = len(self._processes)
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.home), "LC_ALL": "C.UTF-8"}
        with open(self.root / f"said-{number}", "wb") as said:
            process = subprocess.Popen(
                [str(self._programs[self.tool.program]), *arguments], cwd=self.place, env=environment,
                stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        process.started, process.number = time.monotonic(), number
        self._processes.append(process)
        return process

    def _kill(self, process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # The session that was started above, and nothing else.
            process.wait()

    def _finished(self, process, limit=LIMIT):
        timed_out = False
        try:
            process.wait(max(0.1, limit - (time.monotonic() - process.started)))
        except subprocess.TimeoutExpired:
            timed_out = True
            self._kill(process)
        seconds = time.monotonic() - process.started
        said = (self.root / f"said-{process.number}").read_bytes()[-4000:].decode(errors="replace")
        ending = Ending(process.returncode, timed_out, seconds, said)
        self.log += [f"  {line}" for line in said.splitlines()[-12:]]
        self.log.append(f"  = {ending.text()}, {seconds:.1f} s; {self._listing()}")
        return ending

    def _interrupted(self, interruption):
        process = self._start()
        deadline = time.monotonic() + LIMIT
        mark = interruption.mark + (self._fetched() if interruption.exact else 0)
        while process.poll() is None and time.monotonic() < deadline and self._fetched() < mark:
            time.sleep(0.02)
        if process.poll() is None:
            time.sleep(interruption.settle)
        if process.poll() is None:
            self.log.append(f"  {signal.Signals(interruption.signal).name} at {self._fetched():,} bytes served")
            os.kill(process.pid, interruption.signal)
        self._finished(process, limit=time.monotonic() - process.started + LEAVE)

    def _holds(self, count):
        """Whether a file that grows under its final name has just this length; who keeps a record knows by itself."""
        path = self.place / NAME
        return not path.exists() or path.with_name(NAME + ".aria2").exists() or path.stat().st_size == count

    def _hold(self, interruption):
        """What the program would hold, had it not lost the end each time: without it the row would ask nothing of it."""
        self.log.append(f"  lost the end each time: {interruption.mark:,} bytes are put there")
        (self.place / NAME).write_bytes(self.contents.bytes(interruption.version)[: interruption.mark])

    def _fetched(self):
        return served(self.origin.requests()) + served(self.other.requests())

    # ---- what it left

    def results(self):
        """The files that are there under a final name: what nobody would take for unfinished by its name."""
        return sorted(
            path for path in self.place.rglob("*") if path.is_file() and not path.name.endswith(UNFINISHED)
            and not path.with_name(path.name + ".aria2").exists())

    def escaped(self):
        """Files outside of the directory, where there must be none."""
        own = [path for path in self.root.rglob("*") if path.is_file() and self.place not in path.parents]
        return [path for path in own if self.home not in path.parents and not path.name.startswith("said-")]

    def _listing(self):
        names = sorted(f"{path.name} ({path.stat().st_size:,})" for path in self.place.iterdir())
        return ", ".join(names) or "nothing left"

    def is_right(self, path):
        return any(self.contents.equals(path, version) for version in self.row.right)

    def composition(self, path):
        return f"{path.name}: {self.contents.composition(path, self.row.versions())}"

    def _judge(self, endings):
        row = self.row
        if any(ending.crashed for ending in endings):
            return Result("crash", next(ending.text() for ending in endings if ending.crashed))
        unsafe = row.check(self) if row.check else None
        if unsafe:
            return Result("unsafe", unsafe)
        if any(ending.timed_out for ending in endings):
            return Result("hang", f"did not end within {LIMIT} s; {self._listing()}")
        if all(ending.code != 0 for ending in endings):
            return Result("error", ", ".join(ending.text() for ending in endings))
        files = self.results()
        if not files:
            return Result("nothing", "exit 0, and there is no file")
        if row.must_refuse:
            return Result("unsafe", "took it: exit 0")
        right = [path for path in files if self.is_right(path)]
        must_all = row.twins and all(ending.code == 0 for ending in endings)
        if right and (len(right) == len(files) or not must_all):
            return Result("right")
        wrong = [self.composition(path) for path in files if path not in right]
        return Result("wrong", f"exit 0, {'; '.join(wrong)}")


def directory_of(root, row, tool):
    return Path(root) / f"{row.name}-{tool.program}"


__all__ = ["LIMIT", "NAME", "Result", "Trial", "directory_of"]
