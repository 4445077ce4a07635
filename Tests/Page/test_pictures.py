"""Pictures of the page, at the width of a phone and of a desk, in light and dark.

They are written to docs/images when PAGE_PICTURES is set, else to a folder that goes: what is in the repository changes
only when that is meant.
"""

import hashlib
import os
import shutil
import tempfile
import unittest
from pathlib import Path

from case import PageTest
from servers import ROOT

MOST_BYTES = 300_000


class Pictures(PageTest):
    def setUp(self):
        super().setUp()
        if os.environ.get("PAGE_PICTURES"):
            self.folder = ROOT / "docs" / "images"
            self.folder.mkdir(parents=True, exist_ok=True)
        else:
            scratch = tempfile.TemporaryDirectory(prefix="ferry-pictures.")
            self.addCleanup(scratch.cleanup)
            self.folder = Path(scratch.name)

    def downloads(self):
        """A folder with a name that is fit to be seen."""
        folder = Path(tempfile.gettempdir()) / "Downloads"
        for place in (Path("/tmp/Downloads"), Path("/var/tmp/Downloads")):
            if not place.exists():
                folder = place
                break
        folder.mkdir()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.addCleanup(self.daemon.settle)
        return folder

    def fill(self):
        """A list as users have it; gives the one to open."""
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 2, "directory": str(self.downloads())})
        made = {}
        for name, size in (("fonts-source-han-sans.zip", "18M"), ("ubuntu-24.04-server.manifest", "260K")):
            made[name] = self.daemon.add(self.origin.file(size, name))
            self.browser.until_state(made[name], "completed")
        name = "firmware-13.2.bin"
        made[name] = self.daemon.add(self.origin.file("4M", name), checksum="sha-256:" + hashlib.sha256(b"other").hexdigest())
        self.browser.until_state(made[name], "failed")
        name = "sintel-2160p.mkv"
        made[name] = self.daemon.add(self.origin.file("240M", name, "rate=12M"), maxConnections=2)
        self.until_api(made[name], lambda shown: shown["progress"]["completedBytes"] > 90_000_000, "a part of it")
        self.daemon.call("POST", f"/downloads/{made[name]}/pause")
        for name, size, rate, least in (
            ("debian-12.11.0-amd64-netinst.iso", "670M", "9M", 150_000_000), ("dataset-2026-10.tar.zst", "420M", "5M", 60_000_000),
        ):
            made[name] = self.daemon.add(self.origin.file(size, name, f"rate={rate}"), maxConnections=4)
            self.until_api(made[name], lambda shown: shown["progress"]["completedBytes"] > least, "a part of it")
        for name in ("llvm-project-19.1.0.src.tar.xz", "osm-europe-latest.osm.pbf"):
            made[name] = self.daemon.add(self.origin.file("900M", name))
        opened = made["debian-12.11.0-amd64-netinst.iso"]
        for place in ("dataset-2026-10.tar.zst", "debian-12.11.0-amd64-netinst.iso"):
            self.daemon.call("POST", f"/downloads/{made[place]}/move", {"to": "first"})
        self.browser.until(lambda: self.browser.names()[:1] == ["debian-12.11.0-amd64-netinst.iso"], "the order")
        return opened

    def take(self, name):
        self.browser.until(lambda: not self.browser.all(".toast"), "no messages are over it")
        self.browser.js("document.activeElement?.blur()")
        path = self.folder / f"page-{name}.png"
        self.assertTrue(self.browser.driver.save_screenshot(str(path)))
        self.assertLess(path.stat().st_size, MOST_BYTES)

    @unittest.skipUnless(os.environ.get("PAGE_PICTURES") or os.environ.get("PAGE_ALL"), "only when pictures are asked for")
    def test_pictures(self):
        opened = self.fill()
        for scheme in ("light", "dark"):
            self.browser.set_scheme(scheme)
            self.browser.set_size(1280, 860)
            self.take(f"desktop-{scheme}")
            self.browser.set_size(390, 844, True, 2)
            self.take(f"phone-{scheme}")
        self.browser.set_scheme("light")
        self.browser.set_size(1280, 860)
        self.browser.press(self.browser.in_row(opened, ".row-name"))
        self.browser.until(lambda: "on average" in (self.browser.one("dialog.detail .graph").get_attribute("aria-label") or ""), "the graph")
        self.browser.until(lambda: "Connection" in self.browser.text("dialog.detail .legend"), "the map")
        self.take("details")
        self.browser.press("[name=language] option[value=zh]")
        self.browser.until(lambda: "平均" in (self.browser.one("dialog.detail .graph").get_attribute("aria-label") or ""), "the graph, in Chinese")
        self.browser.until(lambda: "连接" in self.browser.text("dialog.detail .legend"), "the map, in Chinese")
        self.take("details-zh")
        self.browser.set_size(390, 844, True, 2)
        self.take("details-phone")
