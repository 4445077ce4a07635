"""The contenders: the command line of each program, and one measured run of it."""

import os
import shutil
import signal
import subprocess
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path

TIMEOUT = 900  # Seconds for one run: more than the slowest program needs.


@dataclass
class Contender:
    """A program with its arguments. {url}, {file}, {list} and {ca} are replaced in each run; {source} is for dd."""

    name: str
    arguments: list
    environment: dict = field(default_factory=dict)
    is_peer: bool = True  # Whether it counts when the best peer is determined.

    def shown(self):
        """The command line for the page."""
        words = {"url": "URL", "file": "FILE", "list": "LIST", "ca": "CA", "source": "SOURCE", "daemon": "DAEMON"}
        variables = [f"{key}={value.format(**words)}" for key, value in self.environment.items()]
        return " ".join(variables + [argument.format(**words) for argument in self.arguments])


@dataclass
class Cost:
    wall: float  # seconds
    cpu: float  # seconds, user and system
    memory: int  # bytes, peak resident


class Failure(Exception):
    pass


class Programs:
    """Finds programs and runs them."""

    def __init__(self, ferry, peers, measure):
        self._measure, self.before = measure, []  # `before`: the words in front of each command.
        self._paths = {"ferry": ferry}
        for name in ("ferry-scale", "ferry-origin"):
            self._paths[name] = ferry and ferry.parent / name
        for name in ("peer-urlsession", "peer-async-http-client"):
            self._paths[name] = peers / name

    def inside(self, namespace):
        """The same programs, run in a network namespace."""
        programs = copy(self)
        programs.before = enter(namespace)
        return programs

    def path(self, name):
        """The path of the program, or None."""
        if name in self._paths:
            found = self._paths[name]
            return str(found) if found and os.access(found, os.X_OK) else None
        return shutil.which(name)

    def absence(self, name):
        return "not built" if name in self._paths else "not installed"

    def run(self, contender, directory, home, words):
        """One run in `directory`. Returns the cost; raises Failure with the program's output."""
        program = self.path(contender.arguments[0])
        if program is None:
            raise Failure(self.absence(contender.arguments[0]))
        command = [program] + [argument.format(**words) for argument in contender.arguments[1:]]
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(directory), "LC_ALL": "C.UTF-8",
            **{key: value.format(**words) for key, value in contender.environment.items()},
        }
        errors = Path(home) / "stderr"
        read_end, write_end = os.pipe()
        with open(errors, "w") as stderr:
            process = subprocess.Popen(
                [*self.before, str(self._measure), str(write_end), *command], cwd=directory, env=environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
                pass_fds=[write_end], start_new_session=True)
        os.close(write_end)
        timed_out = False
        try:
            process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # Only the session that was started above.
                process.wait()
        with os.fdopen(read_end) as pipe:
            said = pipe.read().split()
        if timed_out:
            raise Failure(f"took more than {TIMEOUT} s")
        last = ([""] + [line for line in errors.read_text(errors="replace").splitlines() if line.strip()])[-1]
        if len(said) != 4:
            raise Failure(last or "could not be started")
        wall, cpu, memory, status = map(int, said)
        if status != 0:
            raise Failure(f"exit {status}: {last}"[:200])
        return Cost(wall=wall / 1e9, cpu=cpu / 1e6, memory=memory * 1024)


def enter(namespace):
    """The words in front of a command that runs in a network namespace."""
    return ["ip", "netns", "exec", namespace]


def ferry(name, *options, secure=False):
    ca = ["--ca-file", "{ca}"] if secure else []
    return Contender(name, ["ferry", "get", "-q", *options, *ca, "-o", "{file}", "{url}"], is_peer=False)


def aria2(name, *options, secure=False):
    ca = ["--ca-certificate={ca}"] if secure else []
    return Contender(
        name, ["aria2c", "-q", "--no-conf", *options, "--file-allocation=none", *ca, "-o", "{file}", "{url}"])


def one_file_peers(secure=False):
    """The peers for one large file, with the options that their documentation recommends for it."""
    option = ["--ca-certificate={ca}"] if secure else []
    return [
        Contender("curl", ["curl", "-sS", *(["--cacert", "{ca}"] if secure else []), "-o", "{file}", "{url}"]),
        Contender("wget", ["wget", "-q", *option, "-O", "{file}", "{url}"]),
        Contender("wget2", ["wget2", "-q", *option, "-O", "{file}", "{url}"]),
        aria2("aria2c", secure=secure),
        aria2("aria2c -x16", "-x16", "-s16", "-k1M", secure=secure),
        # axel has no option for a CA and does not support addresses in certificates: it encrypts but does not verify.
        Contender("axel -n 16", ["axel", "-q", "-n", "16", *(["-k"] * secure), "-o", "{file}", "{url}"]),
        # On Linux, a CA cannot be passed to URLSession.
        *([] if secure else [Contender("URLSession", ["peer-urlsession", "{url}", "{file}"])]),
        Contender(
            "AsyncHTTPClient", ["peer-async-http-client", "{url}", "{file}", *(["{ca}"] if secure else [])]),
    ]
