"""The programs that are compared, and the options that each gets."""

import re
import subprocess
from dataclasses import dataclass
from typing import Optional

# The same for all: so long for a connection and for an answer or more of it, so many attempts in all, and, where a
# program has such an option, less than 1 KB a second counts as nothing.
PATIENCE = 3
ATTEMPTS = 3


@dataclass(frozen=True)
class Wanted:
    """What a row asks of a program beyond going on with one file."""

    several: bool = False  # Several connections, for those that have them.
    server_name: bool = False  # The server may name the file.
    max_size: Optional[int] = None
    checks: bool = False  # The user gives the checksum.
    sha256: Optional[str] = None  # What it is, when the run begins.
    header: Optional[str] = None
    ca: Optional[str] = None
    no_reserve: bool = False  # Use the disk to its end.
    own_retries: bool = False  # As many attempts as the program makes by itself.


class Tool:
    name = program = ""
    option = ""  # As the head of its column shows it.

    def command(self, url, wanted):
        raise NotImplementedError

    def lacks(self, wanted):
        """Why it cannot take part in a row, or None."""
        return None

    def version(self, path):
        try:
            said = subprocess.run([path, "--version"], stdout=subprocess.PIPE, text=True, timeout=30).stdout
        except OSError:
            return "missing"
        found = re.search(r"\d+(\.\d+)+", said)
        return found.group() if found else "?"


class Ferry(Tool):
    name, program = "Ferry", "ferry"

    def command(self, url, wanted):
        words = ["get", "--no-progress", "--connect-timeout", PATIENCE, "--stall-timeout", PATIENCE]
        words += [] if wanted.own_retries else ["--retries", ATTEMPTS - 1]
        words += ["--ca-file", wanted.ca] if wanted.ca else []
        words += ["--max-size", wanted.max_size] if wanted.max_size else []
        words += ["--checksum", f"sha256:{wanted.sha256}"] if wanted.sha256 else []
        words += ["--header", wanted.header] if wanted.header else []
        words += ["--min-free", "0"] if wanted.no_reserve else []
        return [*map(str, words), url]


class Curl(Tool):
    name, program, option = "curl", "curl", "-C -"

    def command(self, url, wanted):
        words = ["-q", "-sS", "-f", "-L", "--connect-timeout", PATIENCE, "--speed-limit", 1000, "--speed-time", PATIENCE]
        # It refuses -C - together with names from the server.
        words += ["-O", "-J"] if wanted.server_name else ["-C", "-", "-O"]
        words += ["--cacert", wanted.ca] if wanted.ca else []
        words += ["--max-filesize", wanted.max_size] if wanted.max_size else []
        words += ["-H", wanted.header] if wanted.header else []
        return [*map(str, words), url]

    def lacks(self, wanted):
        return "has no option for a checksum" if wanted.checks else None


class Wget(Tool):
    name, program, option = "wget", "wget", "-c"
    quiet = ["--no-config", "-nv"]

    def command(self, url, wanted):
        words = [*self.quiet, "-c", f"--timeout={PATIENCE}"]
        words += [] if wanted.own_retries else [f"--tries={ATTEMPTS}", "--waitretry=1"]
        words += ["--content-disposition"] if wanted.server_name else []
        words += [f"--ca-certificate={wanted.ca}"] if wanted.ca else []
        words += [f"--header={wanted.header}"] if wanted.header else []
        return [*words, url]

    def lacks(self, wanted):
        if wanted.max_size:
            return "has no option for the size of one file"
        return "has no option for a checksum" if wanted.checks else None


class Wget2(Wget):
    name, program = "wget2", "wget2"
    quiet = ["-nv"]


class Aria2(Tool):
    name, program, option = "aria2", "aria2c", "-c"

    def command(self, url, wanted):
        words = ["--no-conf", "--console-log-level=warn", "--summary-interval=0", "-c"]
        words += [f"--connect-timeout={PATIENCE}", f"--timeout={PATIENCE}"]
        words += [] if wanted.own_retries else [f"--max-tries={ATTEMPTS}", "--retry-wait=1"]
        words += ["--lowest-speed-limit=1000"]
        words += ["-x4", "-s4", "-k1M"] if wanted.several else []
        words += [f"--ca-certificate={wanted.ca}"] if wanted.ca else []
        words += [f"--checksum=sha-256={wanted.sha256}"] if wanted.sha256 else []
        words += [f"--header={wanted.header}"] if wanted.header else []
        return [*words, url]

    def lacks(self, wanted):
        return "has no option for the size of a file" if wanted.max_size else None


TOOLS = [Ferry(), Curl(), Wget(), Wget2(), Aria2()]
