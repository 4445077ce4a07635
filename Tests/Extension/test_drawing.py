"""The pictures of the documentation and the icons, drawn when PAGE_PICTURES is set."""

import base64
import os
import unittest

from stage import IS_FIREFOX, ROOT, SOURCE, ExtensionTest

MOST_BYTES = 200_000

ICON = """
const image = new Image();
image.src = 'data:image/svg+xml;base64,' + args[0];
await image.decode();
const canvas = Object.assign(document.createElement('canvas'), {width: args[1], height: args[1]});
canvas.getContext('2d').drawImage(image, 0, 0, args[1], args[1]);
return canvas.toDataURL('image/png').split(',')[1];
"""


@unittest.skipUnless(os.environ.get("PAGE_PICTURES") and not IS_FIREFOX, "only when pictures are asked for, in Chromium")
class Pictures(ExtensionTest):
    def take(self, name, width, height):
        self.browser.set_size(width, height, scale=2)
        self.browser.js("document.activeElement?.blur()")
        path = ROOT / "docs" / "images" / f"browser-{name}.png"
        self.assertTrue(self.browser.driver.save_screenshot(str(path)))
        self.assertLess(path.stat().st_size, MOST_BYTES)

    def test_icons(self):
        mark = (ROOT / "Sources/FerryServer/Page/Assets/mark.svg").read_bytes()
        (SOURCE / "icons").mkdir(exist_ok=True)
        self.visit("icons")
        for size in (16, 32, 48, 128):
            drawn = self.browser.driver.execute_async_script(
                f"const done = arguments[2]; (async (...args) => {{ {ICON} }})(...arguments).then(done)",
                base64.b64encode(mark).decode(), size)
            (SOURCE / "icons" / f"{size}.png").write_bytes(base64.b64decode(drawn))

    def test_pictures(self):
        self.fill()
        self.browser.extension("popup.html")
        self.until(lambda: len(self.browser.all("#list li")) == 4, "four downloads")
        self.take("popup", 384, 420)
        self.browser.extension("options.html")
        self.browser.write("[name=sites]", "music.example.com")
        self.take("rules", 720, 620)
        names = ("debian-12.11.0-amd64-netinst.iso", "debian-12.11.0-amd64-netinst.iso.zsync", "SHA256SUMS")
        links = [{"url": f"https://cdimage.example.org/debian-cd/current/amd64/{name}", "label": name} for name in names]
        self.browser.inside("await api.storage.session.set({found: {page: '', links: arguments[0]}}); return true", links)
        self.browser.extension("choose.html")
        self.browser.press("#list input")
        self.take("links", 720, 380)

    def fill(self):
        """Downloads as users have them: one runs, one waits for a link, one is paused, one is complete."""
        def click(name, size, state, query=""):
            self.visit(f'<a id=file href="/file/{name}?size={size}{query}">{name}</a>')
            self.browser.press("#file")
            self.until(lambda: self.is_listed(name, state), f"{name} is {state}")

        click("fonts-source-han-sans.zip", 18_000_000, "completed")
        self.site.held = 2_500_000
        click("sintel-trailer.mkv", 4_000_000, "downloading", "&key=first")
        self.until(lambda: self.is_listed("sintel-trailer.mkv", "downloading")["progress"]["completedBytes"] > 2_000_000, "half")
        self.site.keys, self.site.breaks = {"second"}, True
        self.site.gate.set()
        self.until(lambda: self.is_listed("sintel-trailer.mkv", "freshLink"), "it waits")
        self.site.gate.clear()
        self.site.breaks = False
        self.site.held = 20_000_000
        click("dataset-2026-10.tar.zst", 40_000_000, "downloading", "&key=second")
        self.until(lambda: self.is_listed("dataset-2026-10.tar.zst", "downloading")["progress"]["completedBytes"] > 8_000_000, "a part")
        self.daemon.call("POST", f"/downloads/{self.is_listed('dataset-2026-10.tar.zst', 'downloading')['id']}/pause")
        self.site.held = 20_000_000
        click("debian-12.11.0-amd64-netinst.iso", 67_000_000, "downloading", "&key=second")
        self.until(
            lambda: self.is_listed("debian-12.11.0-amd64-netinst.iso", "downloading")["progress"]["completedBytes"] > 19_000_000,
            "a part")

    def is_listed(self, name, state):
        return next((
            one for one in self.daemon.listed()
            if one["name"] == name and state in (one["state"], one.get("waitReason"))), None)
