"""pip, as it is, with the gateway before pypiserver."""

import base64
import hashlib
import os
import subprocess
import sys
import unittest
import urllib.error
import urllib.request
import zipfile

from rig import PATIENCE, Case, Gateway, before, end, free_port, made_bytes, wait_until


def wheel(folder, name, size, seed):
    """A wheel with one large file; stored, so that it is as large."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    data = made_bytes(size, seed)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/data.bin", data)
        archive.writestr(f"{name}/__init__.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path, data


class Server:
    """pypiserver, perhaps with a user `u` and a password `p`."""

    def __init__(self, packages, with_password=False):
        self.port = free_port()
        words = [sys.executable, "-m", "pypiserver", "run", "-p", str(self.port), "-i", "127.0.0.1", "--disable-fallback"]
        if with_password:
            # SHA-1 of `p`, as htpasswd -s writes it.
            digest = base64.b64encode(hashlib.sha1(b"p").digest()).decode()
            (packages.parent / "users").write_text(f"u:{{SHA}}{digest}\n")
            words += ["-P", str(packages.parent / "users"), "-a", "download,list"]
        self.process = subprocess.Popen(
            [*words, str(packages)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{self.port}"
        wait_until(self.answers, "pypiserver")

    def answers(self):
        try:
            urllib.request.urlopen(self.url, timeout=PATIENCE).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def close(self):
        end(self.process)


class Pip(Case):
    def setUp(self):
        super().setUp()
        self.packages = self.folder / "packages"
        self.packages.mkdir()

    def pip(self, index, target, *words):
        """pip with one line of settings; no cache of its own, no tries of its own."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
        environment["PIP_CONFIG_FILE"] = os.devnull
        return self.process(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir", "--disable-pip-version-check",
             "--index-url", index, "-d", str(target), *words], env=environment)

    def test_killed_clients_and_daemons(self):
        path, _ = wheel(self.packages, "big", 90_000_000, 1)
        upstream = self.started(before(self.started(Server(self.packages)).url))
        gateway = self.started(Gateway(f"pypi={upstream.url}/simple/"))
        index = f"{gateway.url}/gw/pypi/simple/"
        self.survives(upstream, gateway, path.stat().st_size, lambda: self.pip(index, self.folder / "got", "big"))
        self.assertEqual((self.folder / "got" / path.name).read_bytes(), path.read_bytes())
        before_again = upstream.total()
        self.succeeds(self.pip(index, self.folder / "again", "big"))
        self.assertEqual((self.folder / "again" / path.name).read_bytes(), path.read_bytes())
        self.assertLess(upstream.total() - before_again, 1 << 20)

    def test_many_at_once_and_an_installed_package(self):
        path, data = wheel(self.packages, "shared", 8_000_000, 2)
        upstream = self.started(before(self.started(Server(self.packages)).url))
        gateway = self.started(Gateway(f"pypi={upstream.url}/simple/"))
        index = f"{gateway.url}/gw/pypi/simple/"
        clients = [self.pip(index, self.folder / f"got{number}", "shared") for number in range(4)]
        for number, client in enumerate(clients):
            self.succeeds(client)
            self.assertEqual((self.folder / f"got{number}" / path.name).read_bytes(), path.read_bytes())
        self.assertLess(upstream.total(), path.stat().st_size + (1 << 20))
        installed = subprocess.run(
            [sys.executable, "-m", "pip", "install", "-q", "--no-cache-dir", "--disable-pip-version-check", "--index-url",
             index, "--target", str(self.folder / "site"), "shared"], timeout=PATIENCE * 2)
        self.assertEqual(installed.returncode, 0)
        self.assertEqual((self.folder / "site" / "shared" / "data.bin").read_bytes(), data)

    def test_credentials_of_each_client(self):
        path, _ = wheel(self.packages, "private", 2_000_000, 3)
        upstream = self.started(before(self.started(Server(self.packages, with_password=True)).url))
        gateway = self.started(Gateway(f"pypi={upstream.url}/simple/"))
        index = gateway.url.replace("://", "://u:p@") + "/gw/pypi/simple/"
        self.succeeds(self.pip(index, self.folder / "got", "private"))
        for user in ("u:wrong@", "x:p@"):
            other = index.replace("u:p@", user)
            self.assertNotEqual(self.pip(other, self.folder / "no", "private", "--no-input").wait(PATIENCE), 0)
        self.assertFalse((self.folder / "no" / path.name).exists())
        secret = base64.b64encode(b"u:p")
        for name in (gateway.folder / "state").rglob("*"):
            if name.is_file():
                self.assertNotIn(secret, name.read_bytes(), name)
        self.assertNotIn(secret, (gateway.folder / "log").read_bytes())


if __name__ == "__main__":
    unittest.main()
