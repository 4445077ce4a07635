"""A row as data: what the server is at first, what becomes of it, and what is right in the end."""

import signal
from dataclasses import dataclass, field
from typing import Callable, Optional

from peers.contents import HALF, HELD, SIZE, Version
from peers.tools import Wanted


def target(*parameters, version=Version(), name="file.bin"):
    """What the server's path stands for: a version of the file, and how it is served."""
    return f"/file/{version.size}/{name}?" + "&".join([f"seed={version.seed}", *parameters])


@dataclass(frozen=True)
class Interruption:
    """A run that is ended by a signal, when the server has sent so many bytes in all."""

    target: str
    mark: int
    signal: int = signal.SIGINT
    settle: float = 0.6  # Seconds between the mark and the signal: what was sent is read by then.
    exact: bool = False  # Begin again when a program lost the end of what it had read (curl and wget may, at a signal).
    version: Version = Version()  # What is sent.


def held(*parameters, version=Version(), by=signal.SIGINT):
    """The usual first run: the server sends 5 of 8 MiB and nothing more; then the program is asked to leave."""
    return [Interruption(
        target(*parameters, f"stall={HELD}", version=version), HELD, by, exact=by == signal.SIGINT, version=version)]


@dataclass(frozen=True)
class Row:
    name: str  # As in the table: A1, A9b.
    title: str
    target: str  # What is served when it counts.
    first: list = field(default_factory=list)  # Interrupted runs before.
    right: tuple = (Version(),)  # What the file may be, wholly.
    known: tuple = ()  # More versions that a wrong file may be made of.
    healed: Optional[str] = None  # What is served after an error; else the first right version without faults.
    wanted: Wanted = Wanted()
    server: tuple = ()  # Arguments of ferry-origin.
    is_tls: bool = False
    is_direct: bool = False  # The URL is the target itself: nothing is asked of the server while it runs.
    is_down: bool = False  # The server is gone when it counts.
    completes_before: bool = False  # The first run comes to its end.
    must_refuse: bool = False  # Success is the fault.
    counts_bytes: bool = False  # What was fetched twice is of interest.
    prepare: Optional[Callable] = None  # (trial) before everything.
    between: Optional[Callable] = None  # (trial) after the first runs.
    during: Optional[Callable] = None  # (trial, process) once, some seconds after the start.
    heal: Optional[Callable] = None  # (trial) before the run after an error.
    check: Optional[Callable] = None  # (trial) -> what was unsafe, or None.
    twins: bool = False  # The command runs twice at once.
    needs_root: bool = False
    note: str = ""

    def healthy(self):
        return self.healed or target(version=self.right[0])

    def versions(self):
        return [*self.right, *(version for version in self.known if version not in self.right)]


__all__ = ["HALF", "HELD", "SIZE", "Interruption", "Row", "Version", "Wanted", "held", "target"]
