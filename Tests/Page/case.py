"""What every test of the page begins and ends with."""

import atexit
import json
import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from browser import Browser
from servers import Daemon, Origin


class Stage:
    """One origin, one daemon and one browser for all tests; each test finds them empty."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="ferry-browser.", dir=os.environ.get("TMPDIR", "/tmp"))
        atexit.register(self.close)
        self.origin = Origin()
        self.daemon = Daemon()
        self.browser = Browser(self.profile)

    def close(self):
        for name, close in (("browser", "quit"), ("daemon", "close"), ("origin", "stop")):
            server = getattr(self, name, None)
            if server is not None:
                getattr(server, close)()
        shutil.rmtree(self.profile, ignore_errors=True)


_stage = None


def stage():
    global _stage
    if _stage is None:
        _stage = Stage()
    return _stage


class PageTest(unittest.TestCase):
    """A test in the page, signed in, in English, on a desk.

    It fails when the console had an error or the policy was broken, except for what `forgives` names.
    """

    maxDiff = None
    signs_in = True
    languages = "en-US,en"
    size = (1280, 800)

    def busy(self):
        """A file of a server that asks to wait ten minutes, and that is no other test's: all downloads from it wait."""
        origin = Origin()
        self.addCleanup(origin.stop)
        return origin.file("10K", "busy.bin", "status=503,600")

    def setUp(self):
        there = stage()
        self.origin, self.daemon, self.browser = there.origin, there.daemon, there.browser
        self.forgives = []
        self.daemon.settle()
        self.browser.set_language(self.languages)
        self.browser.set_size(*self.size)
        self.browser.set_scheme("light")
        if self.signs_in:
            try:
                self.sign_in()
            except Exception as error:
                self.keep_what_is_seen()
                raise AssertionError(f"cannot sign in: {self.browser.faults()}") from error

    def sign_in(self):
        self.browser.open(self.daemon.page)
        self.browser.js("localStorage.clear(); sessionStorage.clear()")
        self.browser.faults()
        self.browser.open(f"{self.daemon.page}#code={self.daemon.code()}")
        self.browser.one(".add-field")
        # The field is there before the list is; the list has come when it is said to be empty, or has rows.
        self.browser.until(
            lambda: any(found.is_displayed() for found in self.browser.all(".empty:not(.small), .row")), "the list came")

    def tearDown(self):
        result = self._outcome.result
        if any(test is self for test, _ in result.failures + result.errors):
            self.keep_what_is_seen()
        self.assertEqual(self.browser.js("return window.ran ?? []"), [], "what a server said has run")
        left = [
            fault for fault in self.browser.faults() if not any(re.search(pattern, fault) for pattern in self.forgives)]
        self.assertEqual(left, [], "the console, or the policy")

    def keep_what_is_seen(self):
        print(f"{self.id()}: the daemon has", *map(self.shown, self.daemon.items()), sep="\n  ", file=sys.stderr)
        folder = os.environ.get("PAGE_ARTIFACTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.browser.driver.save_screenshot(str(Path(folder) / f"{self.id()}.png"))

    # Shorthand.

    def unfold(self):
        """Opens what else can be changed of the download whose details are open."""
        self.browser.one("dialog.detail .part-change > summary")
        self.browser.js("document.querySelector('dialog.detail .part-change').open = true")

    @staticmethod
    def shown(item):
        return json.dumps({name: item.get(name) for name in ("id", "name", "state", "waitReason", "error", "progress")})

    def held(self, size="40M", name="held.bin", query="", **options):
        """A download that runs and does not end: its origin gives a little at a time."""
        rate = query or "rate=400K"
        return self.daemon.add(self.origin.file(size, name, rate), maxConnections=1, **options)

    def until_api(self, identifier, holds, what):
        return self.browser.until(
            lambda: (lambda shown: shown if holds(shown) else None)(self.daemon.show(identifier)), what)
