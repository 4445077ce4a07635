"""The bottleneck of a download: artificial causes, and Ferry's report for each."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field as attribute
from pathlib import Path

from harness.contender import enter
from harness.long import Link, OpenLink
from harness.nginx import Nginx
from harness.outcome import Gate, Outcome
from harness.size import GIBIBYTE, MEBIBYTE

SECONDS = 9  # The duration of a download. Ferry's last report counts, because the first seconds are slow start.
CGROUPS = Path("/sys/fs/cgroup")
SIZE = 512 * MEBIBYTE


@dataclass
class Scene:
    """The setting of a download: the words in front of `ferry`, its options, its URL, and its directory."""

    url: str
    inside: list = attribute(default_factory=list)
    options: list = attribute(default_factory=list)
    directory: Path = None


@dataclass
class Case:
    title: str
    cause: str  # Ferry's name for it.
    scene: object  # (field, nginx, programs) -> context manager of a Scene.


def over(link, *near, congestion=None):
    """A download over a link, with these kernel settings at its near end."""

    @contextmanager
    def scene(field, nginx, programs):
        with OpenLink(field, link) as opened:
            for setting in near:
                subprocess.run([*enter(opened.near), "sysctl", "-qw", setting], check=True)
            if congestion:
                setting = f"net.ipv4.tcp_congestion_control={congestion}"
                subprocess.run([*enter(opened.far), "sysctl", "-qw", setting], check=True)
            yield Scene(opened.nginx.url(field.sparse(SIZE)), inside=enter(opened.near))

    return scene


def plain(*options):
    @contextmanager
    def scene(field, nginx, programs):
        yield Scene(nginx.url(field.sparse(SIZE)), options=list(options))

    return scene


@contextmanager
def refusing(field, nginx, programs):
    with Nginx(field, name="nginx-refusing", rules="limit_conn all 3; limit_rate 2m;") as server:
        yield Scene(server.url(field.sparse(SIZE)))


@contextmanager
def late(field, nginx, programs):
    origin = subprocess.Popen(
        [programs.path("ferry-origin"), "--latency", "6000", "--parent-watch"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True)
    try:
        yield Scene(origin.stdout.readline().strip() + "/file/8M?etag=v1")
    finally:
        origin.stdin.close()
        origin.wait()


@contextmanager
def little_processor(field, nginx, programs):
    """A fifth of a core."""
    group = CGROUPS / "cpu" / f"ferry-bench-{os.getpid()}"
    group.mkdir()
    try:
        (group / "cpu.cfs_quota_us").write_text("20000")
        join = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
        yield Scene(nginx.url(field.sparse(2 * GIBIBYTE)), inside=join, directory=field.tmpfs())
    finally:
        group.rmdir()


@contextmanager
def slow_disk(field, nginx, programs):
    """A file system on a loop device to which the kernel writes 20 MB a second."""
    limit = CGROUPS / "blkio/blkio.throttle.write_bps_device"
    image, mount = field.directory / "slow.img", field.directory / "slow"
    with open(image, "wb") as file:
        file.truncate(2 * GIBIBYTE)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    mount.mkdir(exist_ok=True)
    with ExitStack() as stack:
        stack.callback(image.unlink)
        device = subprocess.run(
            ["losetup", "-f", "--show", str(image)], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        stack.callback(subprocess.run, ["losetup", "-d", device])
        subprocess.run(["mount", device, str(mount)], check=True)
        stack.callback(subprocess.run, ["umount", str(mount)])
        number = Path("/sys/block", Path(device).name, "dev").read_text().strip()
        limit.write_text(f"{number} 20000000")
        stack.callback(limit.write_text, f"{number} 0")
        yield Scene(nginx.url(field.sparse(SIZE)), directory=mount)


# The beginnings of the sentences for the causes.
SENTENCES = {
    "your limit": "rateLimit", "the disk": "disk", "this machine's processor": "processor",
    "the server answers slowly": "latency", "the server refuses": "refusals", "the server gives": "perConnection",
    "this line": "line", "the line or the server": "path", "about": "loss", "the server sends": "sendWindow",
    "this machine accepts": "receiveWindow",
}

CASES = [
    Case("the user's limit of 2 MB/s", "rateLimit", plain("--limit-rate", "2M")),
    Case("the disk writes 20 MB/s", "disk", slow_disk),
    Case("a fifth of a processor", "processor", little_processor),
    Case("the server waits 6 s before each answer", "latency", late),
    Case("the server refuses more than 3 connections", "refusals", refusing),
    Case("the server gives 1 MB/s to each connection (40 ms, 200 Mbit/s)", "perConnection",
         over(Link(40, 200, rules="limit_rate 1000000;"))),
    Case("a line of 100 Mbit/s (20 ms)", "line", over(Link(20, 100))),
    Case("1 % of the packets are lost (80 ms, 200 Mbit/s, Reno)", "loss", over(Link(80, 200, 1), congestion="reno")),
    Case("the server's send buffer is 64 KiB (100 ms, 200 Mbit/s)", "sendWindow",
         over(Link(100, 200, socket=" sndbuf=64k"))),
    Case("the receive buffer here is 128 KiB (100 ms, 200 Mbit/s)", "receiveWindow",
         over(Link(100, 200), "net.ipv4.tcp_rmem=4096 65536 131072")),
]


class Limits:
    """A confusion matrix: the artificial cause, and Ferry's last report."""

    def title(self, field):
        return "What limits a download: causes made on purpose, and what Ferry says"

    def cannot_run(self, field):
        if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
            return "network namespaces, tun devices and loop devices need root"
        if not (CGROUPS / "cpu/cpu.cfs_quota_us").exists() or not (CGROUPS / "blkio").exists():
            return "the limits of the processor and the disk are made with control groups, version 1"
        if field.tmpfs() is None:
            return "there is no tmpfs to write to"
        return None

    def run(self, field, nginx, programs, runs, seconds_left):
        said = {case.cause: Counter() for case in CASES}
        for turn in range(runs):
            if turn > 0 and seconds_left() <= 0:
                print("bench: the time is up, fewer runs than asked", file=sys.stderr)
                break
            for case in CASES:
                cause = self.once(case, field, nginx, programs)
                said[case.cause][cause] += 1
                print(f"  {turn + 1} of {runs}: {case.title}: {cause}", flush=True)
        causes = [case.cause for case in CASES]
        others = sorted({cause for counts in said.values() for cause in counts} - set(causes))
        head = ["made", *causes, *others]
        figures = [head] + [
            [case.title, *(str(said[case.cause][cause] or "·") for cause in head[1:])] for case in CASES]
        right = sum(counts[cause] for cause, counts in said.items())
        count = sum(sum(counts.values()) for counts in said.values())
        worst = max(sum(counts.values()) - counts[cause] for cause, counts in said.items())
        return Outcome(
            [], [Gate("wrong or not known, of all", (1 - right / max(1, count)) * 100, 10, 5, unit="%"),
                 Gate("wrong or not known, of the worst cause", worst, runs // 2, unit="")],
            remark=f"{count // len(CASES)} runs of each cause, {SECONDS} s each; the last cause that Ferry reported. "
                   "`none`: it reported none.",
            figures=figures, commands=["ferry get -v --no-progress [--limit-rate 2M] -d DIRECTORY URL"])

    def once(self, case, field, nginx, programs):
        """Ferry's last report."""
        with case.scene(field, nginx, programs) as scene:
            directory = field.fresh(scene.directory)
            try:
                return self.listen(scene, directory, field, programs)
            finally:
                shutil.rmtree(directory, ignore_errors=True)

    def listen(self, scene, directory, field, programs):
        command = [*scene.inside, "timeout", "-s", "INT", str(SECONDS), programs.path("ferry"), "get", "-v"]
        process = subprocess.run(
            [*command, *scene.options, "--no-progress", "-d", str(directory), scene.url], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={"PATH": os.environ["PATH"], "HOME": str(field.home), "LC_ALL": "C.UTF-8"})
        said = [line.split("speed limited: ")[1] for line in process.stderr.splitlines() if "speed limited: " in line]
        print("    " + (" · ".join(said) or f"nothing; exit {process.returncode}: {process.stderr[-500:]!r}"), flush=True)
        return next((cause for start, cause in SENTENCES.items() if said and said[-1].startswith(start)), "none")
