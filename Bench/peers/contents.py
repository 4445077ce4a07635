"""What the files must hold: the bytes of each version, and what a wrong file is made of."""

import subprocess
import threading
from dataclasses import dataclass

MEBIBYTE = 1 << 20
SIZE = 8 * MEBIBYTE
HALF = SIZE // 2
# What a first run holds: not one half, lest what is missing be as long as what is held, which some take for a sign.
HELD = 5 * MEBIBYTE
BLOCK = 4096


@dataclass(frozen=True)
class Version:
    """One version of the served file."""

    seed: int = 1
    size: int = SIZE

    @property
    def name(self):
        return f"version {self.seed}" if self.seed in (1, 2) else "another file"


class Contents:
    """The bytes of versions, from `ferry-origin print`, kept in memory."""

    def __init__(self, origin):
        self._origin, self._bytes, self._lock = origin, {}, threading.Lock()

    def bytes(self, version):
        with self._lock:
            if version not in self._bytes:
                made = subprocess.run(
                    [str(self._origin), "print", "--seed", str(version.seed), "--size", str(version.size)],
                    check=True, stdout=subprocess.PIPE).stdout
                if len(made) != version.size:
                    raise SystemExit("compare-peers: ferry-origin print made another size")
                self._bytes[version] = made
            return self._bytes[version]

    def equals(self, path, version):
        return path.stat().st_size == version.size and path.read_bytes() == self.bytes(version)

    def composition(self, path, versions):
        """What a file is made of, in words: `version 1 0–4,194,304; version 2 4,194,304–8,388,608`."""
        data = path.read_bytes()
        if not data:
            return "empty"
        runs = []
        for start in range(0, len(data), BLOCK):
            block = data[start : start + BLOCK]
            name = next(
                (version.name for version in versions if block == self.bytes(version)[start : start + len(block)]),
                "zeros" if not any(block) else "other bytes")
            if runs and runs[-1][0] == name:
                runs[-1][2] = start + len(block)
            else:
                runs.append([name, start, start + len(block)])
        said = [f"{name} {first:,}–{last:,}" for name, first, last in runs[:4]]
        return "; ".join(said) + (f"; and {len(runs) - 4} more pieces" if len(runs) > 4 else "")
