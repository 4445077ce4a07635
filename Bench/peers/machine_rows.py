"""The rows of section B that make sense between programs: faults of this machine."""

import os
import signal
import subprocess
import time

from peers.contents import MEBIBYTE
from peers.scenario import HALF, Interruption, Row, Version, Wanted, held, target

STRANGER, LARGE = Version(9), Version(1, 32 * MEBIBYTE)


def unfinished(trial):
    """The file that holds what came first."""
    part = trial.place / "file.bin.part"
    return part if part.exists() else trial.place / "file.bin"


def truncate(trial):
    path = unfinished(trial)
    if path.exists():
        os.truncate(path, MEBIBYTE)


def replace(trial):
    path = unfinished(trial)
    if path.exists():
        other = path.with_name("other")
        other.write_bytes(trial.contents.bytes(STRANGER)[: path.stat().st_size])
        other.replace(path)


def delete(trial):
    unfinished(trial).unlink(missing_ok=True)


def small_disk(trial):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(trial.place)], check=True)
    trial.mounted = True


def grow_disk(trial):
    subprocess.run(["mount", "-o", "remount,size=64m", str(trial.place)], check=True)


def grow_later(trial, process):
    """There is room after some seconds, for who waits for it."""
    deadline = time.monotonic() + 5
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    if process.poll() is None:
        grow_disk(trial)


def kill(rate, mark, version=Version()):
    return Interruption(target(*rate, version=version), mark, signal.SIGKILL, settle=0)


ROWS = [
    Row("B1a", "killed (SIGKILL) at half of the file, 2 MB/s", target(), [kill(["rate=2M"], HALF)], counts_bytes=True),
    Row("B1b", "killed three times, several connections of 2 MB/s", target(version=LARGE),
        [kill([], number * LARGE.size // 4, LARGE) for number in (1, 2, 3)], right=(LARGE,),
        server=("--connection-rate", "2M"), wanted=Wanted(several=True), counts_bytes=True),
    Row("B3", "the disk is full after 6 MiB, later it has space", target(), prepare=small_disk, during=grow_later,
        heal=grow_disk, wanted=Wanted(no_reserve=True), needs_root=True),
    Row("B6a", "the partial file is truncated to 1 MiB by another program", target(), held(), between=truncate),
    Row("B6b", "the partial file is replaced by another file", target(), held(), known=(STRANGER,), between=replace),
    Row("B6c", "the partial file is deleted", target(), held(), between=delete),
    Row("B8", "the same command again while the first one runs", target("rate=2M"), twins=True),
    Row("B14", "ended by SIGTERM in the middle", target(), held(by=signal.SIGTERM), counts_bytes=True),
]
