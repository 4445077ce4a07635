"""uv, as it is, with the gateway before pypiserver."""

import os
import shutil
import sys
import unittest
from pathlib import Path

from rig import Case, Gateway, before
from test_pypi import Server, wheel

UV = Path(sys.executable).with_name("uv")


class Uv(Case):
    def setUp(self):
        super().setUp()
        self.packages = self.folder / "packages"
        self.packages.mkdir()

    def uv(self, gateway, *words, **options):
        """uv with one line of settings; no cache of its own."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("UV_", "VIRTUAL_ENV"))}
        environment |= {
            "UV_DEFAULT_INDEX": f"{gateway.url}/gw/pypi/simple/", "UV_NO_CACHE": "1", "UV_NO_CONFIG": "1",
            "UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never", "HOME": str(self.folder)}
        return self.process([str(UV), "-q", *words], env=environment, **options)

    def installed(self, folder, name):
        return (folder / name / "data.bin").read_bytes()

    def test_killed_clients_and_daemons(self):
        path, data = wheel(self.packages, "big", 90_000_000, 1)
        upstream = self.started(before(self.started(Server(self.packages)).url))
        gateway = self.started(Gateway(f"pypi={upstream.url}/simple/"))
        site = self.folder / "site"
        self.survives(
            upstream, gateway, path.stat().st_size,
            lambda: self.uv(gateway, "pip", "install", "--target", str(site), "big"))
        self.assertEqual(self.installed(site, "big"), data)

    def test_a_lock_file_works_at_another_gateway_with_the_same_key(self):
        _, data = wheel(self.packages, "shared", 2_000_000, 2)
        upstream = self.started(before(self.started(Server(self.packages)).url))
        first = self.started(Gateway(f"pypi={upstream.url}/simple/"))
        project = self.folder / "project"
        project.mkdir()
        (project / "pyproject.toml").write_text(
            '[project]\nname = "x"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["shared"]\n')
        self.succeeds(self.uv(first, "lock", cwd=project))
        self.assertIn(first.url, (project / "uv.lock").read_text())
        key = (first.folder / "state" / "gateway-key").read_bytes()
        first.close()
        second = self.started(Gateway(f"pypi={upstream.url}/simple/", port=first.gateway_port))
        # Without the key the links are not of this gateway.
        refused = self.uv(second, "sync", "--frozen", "--no-install-project", cwd=project)
        self.assertNotEqual(refused.wait(), 0)
        second.kill()
        (second.folder / "state" / "gateway-key").write_bytes(key)
        second.start()
        shutil.rmtree(project / ".venv", ignore_errors=True)
        self.succeeds(self.uv(second, "sync", "--frozen", "--no-install-project", cwd=project))
        site = next((project / ".venv").glob("lib/python*/site-packages"))
        self.assertEqual(self.installed(site, "shared"), data)


if __name__ == "__main__":
    unittest.main()
