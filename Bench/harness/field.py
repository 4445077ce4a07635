"""The environment of the runs: the served data (created once), fresh directories, the certificate, the measuring program."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness.size import MEBIBYTE, size_text

SMALL = 10 * 1024


class Field:
    """Layout below `directory`: data/ (served), runs/ (one fresh directory per run), home/ (empty), nginx/."""

    def __init__(self, directory, size, count, root):
        self.directory, self.size, self.count = directory, size, count
        self.data = directory / "data"
        self.home = directory / "home"
        for path in (self.data, self.home, directory / "runs"):
            path.mkdir(parents=True, exist_ok=True)
        for left in (directory / "runs").iterdir():  # Left behind by an earlier run that was killed.
            shutil.rmtree(left)
        self.measure = directory / "measure"
        subprocess.run(["cc", "-O2", "-o", str(self.measure), str(root / "Bench/harness/measure.c")], check=True)

    # ---- data

    def big(self):
        """The file of random bytes that most rows download."""
        return self.random(self.size)

    def random(self, size):
        path = self.data / f"random-{size}.bin"
        if not path.exists():
            self._need_space(size)
            print(f"bench: making {size_text(size)} of random bytes", flush=True)
            unfinished = path.with_suffix(".new")
            with open(unfinished, "wb") as file:
                left = size
                while left > 0:
                    left -= file.write(os.urandom(min(left, 8 * MEBIBYTE)))
            unfinished.rename(path)
        return path

    def sparse(self, size):
        """A sparse file of zeros, for the memory row, whose content does not matter."""
        path = self.data / f"zeros-{size}.bin"
        with open(path, "ab") as file:
            file.truncate(size)
        return path

    def small(self):
        path = self.data / "small.bin"
        if not path.exists():
            path.write_bytes(os.urandom(SMALL))
        return path

    def many(self, count=None, size=SMALL):
        """The names, below data/, of many small files, which have a directory of their own."""
        count = count or self.count
        folder = self.data / f"many-{count}-{size}"
        folder.mkdir(exist_ok=True)
        paths = [folder / f"{number:05}.bin" for number in range(count)]
        for path in paths:
            if not path.exists():
                path.write_bytes(os.urandom(size))
        return paths

    def warm(self, paths):
        """Reads the served files once, so that every run finds them in the page cache."""
        for path in paths:
            with open(path, "rb", buffering=0) as file:
                while file.read(8 * MEBIBYTE):
                    pass

    # ---- space

    def free(self):
        return shutil.disk_usage(self.directory).free

    def _need_space(self, size):
        if self.free() < size + 512 * MEBIBYTE:
            raise SystemExit(f"bench: {self.directory} has too little room for {size_text(size)}")

    def tmpfs(self):
        """A directory on a tmpfs, or None."""
        for candidate in (os.environ.get("BENCH_TMPFS"), "/dev/shm", f"/run/user/{os.getuid()}"):
            if candidate and os.path.isdir(candidate) and os.access(candidate, os.W_OK):
                kind = subprocess.run(
                    ["stat", "-f", "-c", "%T", candidate], stdout=subprocess.PIPE, text=True).stdout.strip()
                if kind == "tmpfs":
                    return Path(candidate)
        return None

    def fresh(self, base=None):
        """A new empty directory for one run."""
        return Path(tempfile.mkdtemp(prefix="ferry-bench-", dir=base or self.directory / "runs"))

    # ---- certificate

    def certificate(self):
        """(CA, certificate, key): a private authority and a certificate for 127.0.0.1 that it has signed."""
        folder = self.directory / "certificate"
        ca, certificate, key = folder / "ca.pem", folder / "server.pem", folder / "server.key"
        if certificate.exists():
            still_good = ["openssl", "x509", "-checkend", "86400", "-noout", "-in", str(certificate)]
            if subprocess.run(still_good, stdout=subprocess.DEVNULL).returncode == 0:
                return ca, certificate, key
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()

        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], check=True, cwd=folder, stderr=subprocess.DEVNULL)

        openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "365", "-subj", "/CN=Ferry benchmark CA",
            "-addext", "keyUsage=critical,keyCertSign", "-keyout", "ca.key", "-out", "ca.pem")
        openssl(
            "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", "server.key",
            "-out", "server.csr")
        (folder / "server.ext").write_text(
            "subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n")
        openssl(
            "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", "2",
            "-days", "365", "-extfile", "server.ext", "-out", "server.pem")
        return ca, certificate, key
