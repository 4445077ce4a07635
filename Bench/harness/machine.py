"""The page's description of the machine and the measured programs."""

import os
import platform
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path


def first_line(*command):
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return "missing"
    lines = [line.strip() for line in result.stdout.splitlines() if line.strip()]
    return lines[0] if lines else "?"


def version(*command):
    match = re.search(r"\d+(\.\d+)+", first_line(*command))
    return match.group() if match else "missing"


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("model name", "Model")):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def file_system(directory):
    """The type of the file system, and the known properties of the disk below it."""
    found = first_line("findmnt", "-n", "-o", "FSTYPE,SOURCE", "--target", str(directory)).split()
    kind, source = (found + ["?", "?"])[:2]
    disk = Path(os.path.realpath(source)).name
    block = Path("/sys/class/block") / disk
    if (block / "partition").exists():
        block = block.resolve().parent
    try:
        rotates = (block / "queue/rotational").read_text().strip() == "1"
        model = block / "device/model"
        name = model.read_text().strip() if model.exists() else block.resolve().name
        return f"{kind} on {name} ({'rotating' if rotates else 'not rotating'})"
    except OSError:
        return kind


def system():
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip('"')
    return platform.system()


def facts(directory, ferry):
    memory = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) * 1024
    load = Path("/proc/loadavg").read_text().split()[0]
    swift = re.search(r"Swift version (\S+)", first_line("swift", "--version"))
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores of {processor()}, {memory / 1e9:.0f} GB of memory, "
        f"load {load} when it started",
        "system": f"{system()}, Linux {platform.release()}, {file_system(directory)}",
        "programs": ", ".join(
            f"{name} {found}"
            for name, found in (
                ("Ferry", version(str(ferry), "--version") if ferry else "missing"),
                ("Swift", swift[1] if swift else "missing"),
                ("nginx", version("nginx", "-v")),
                ("curl", version("curl", "--version")),
                ("wget", version("wget", "--version")),
                ("wget2", version("wget2", "--version")),
                ("aria2", version("aria2c", "--version")),
                ("axel", version("axel", "--version")),
            )
        ),
    }
