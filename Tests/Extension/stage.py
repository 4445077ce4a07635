"""A user's home with a browser that has the extension, Ferry as its host, and a site."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "Page"))

from selenium import webdriver  # noqa: E402
from selenium.common.exceptions import TimeoutException  # noqa: E402
from selenium.webdriver.chrome.options import Options  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402

import browser as page_browser  # noqa: E402
import firefox  # noqa: E402
from servers import PATIENCE, ROOT, Daemon, Refused, own_environment, program  # noqa: E402
from site_of_files import Site  # noqa: E402

SOURCE = ROOT / "Extension"
IS_FIREFOX = page_browser.NAME == "firefox"
CHROMIUM_ID = "nbaokfogiejebakdlejbefnonifigcef"
GECKO_ID = "browser@ferry.invalid"
GECKO_UUID = "6a9b2c3d-7e4f-4a5b-8c6d-0e1f2a3b4c5d"
BASE = f"moz-extension://{GECKO_UUID}" if IS_FIREFOX else f"chrome-extension://{CHROMIUM_ID}"


class HostedDaemon(Daemon):
    """The daemon that the host starts."""

    def __init__(self, folder):
        self.folder = folder
        self.downloads = folder / "ferry"
        self.downloads.mkdir()
        self.environment = own_environment(folder) | {
            "XDG_DOWNLOAD_DIR": str(self.downloads), "FERRY_PORT": "0", "DISPLAY": ":99",
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        }
        self.socket = self.environment["FERRY_SOCKET"]

    def ferry(self, *arguments):
        return subprocess.run(
            [program("ferry"), *arguments], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PATIENCE)

    @property
    def pid(self):
        return self.call("GET", "")["pid"]

    def kill(self):
        """As a power cut would end it; returns when it is gone."""
        pid = self.pid
        os.kill(pid, 9)
        until = time.monotonic() + PATIENCE
        while self.runs(pid):
            if time.monotonic() > until:
                raise AssertionError("the daemon stays")
            time.sleep(0.02)

    @staticmethod
    def runs(pid):
        try:
            return "zombie" not in Path(f"/proc/{pid}/status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return False

    def listed(self):
        """The downloads; none while no daemon is running."""
        try:
            return self.items()
        except (ConnectionError, FileNotFoundError):
            return []

    def settle(self):
        while items := self.listed():
            for item in items:
                try:
                    self.call("DELETE", f"/downloads/{item['id']}?deleteFile=true")
                except Refused as refused:
                    if refused.status != 404:
                        raise


class Browser(page_browser.Browser):
    def __init__(self, home, downloads):
        self.downloads = downloads
        self.driver = self.firefox(home) if IS_FIREFOX else self.chromium(home)

    def chromium(self, home):
        options = Options()
        options.binary_location = os.environ.get("CHROMIUM") or shutil.which("chromium")
        for argument in (
            "--headless=new", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--no-proxy-server",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
            "--force-color-profile=srgb", "--disable-features=DisableLoadExtensionCommandLineSwitch", f"--lang={os.environ.get('EXTENSION_LANGUAGE', 'en-US')}",
            f"--load-extension={SOURCE}", f"--user-data-dir={home / '.config' / 'chromium'}",
        ):
            options.add_argument(argument)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")  # Chromium's own does not work for root.
        options.add_experimental_option("excludeSwitches", ["disable-extensions", "enable-automation"])
        options.add_experimental_option("prefs", {
            **page_browser.START_PREFERENCES,
            "download.default_directory": str(self.downloads), "download.prompt_for_download": False,
            "safebrowsing.enabled": False})
        driver = webdriver.Chrome(
            options=options, service=Service(os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")))
        driver.set_page_load_timeout(PATIENCE)
        driver.set_script_timeout(PATIENCE)
        return driver

    def firefox(self, home):
        firefox.PREFERENCES.update({
            "browser.download.dir": str(self.downloads), "browser.download.folderList": 2,
            "browser.download.useDownloadDir": True, "browser.download.alwaysOpenPanel": False,
            "browser.download.always_ask_before_handling_new_types": False,
            "extensions.webextensions.uuids": json.dumps({GECKO_ID: GECKO_UUID}),
            "intl.locale.requested": os.environ.get("EXTENSION_LANGUAGE", "en-US"),
        })
        # Pages of extensions are opened by those alone that may control the browser itself.
        os.environ["MOZ_REMOTE_ALLOW_SYSTEM_ACCESS"] = "1"
        profile = home / "profile"
        profile.mkdir()
        driver = firefox.Driver(str(profile), "")
        driver.bidi.call("webExtension.install", extensionData={"type": "path", "path": str(SOURCE)})
        return driver

    def extension(self, page):
        """Opens a page of the extension."""
        self.open(f"{BASE}/{page}")

    def inside(self, script, *arguments):
        """Runs a function of the extension in its options page, with its API; gives its value."""
        self.extension("options.html")
        if IS_FIREFOX:
            return self.js(f"const api = browser; {script}", *arguments)
        done = "arguments[arguments.length - 1]"
        answer = self.driver.execute_async_script(
            f"const done = {done}; const api = chrome; (async (...args) => {{ {script.replace('arguments[', 'args[')} }})"
            "(...[...arguments].slice(0, -1)).then((value) => done({value}), (error) => done({error: String(error)}))",
            *arguments)
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer["value"]

    def own_downloads(self):
        """What the browser itself has in its list."""
        return self.inside("return (await api.downloads.search({})).map(({state, url}) => ({state, url}))")


class Stage:
    """One browser, one site and one home for all tests; each finds them as new."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="ferry-ext.", dir=os.environ.get("TMPDIR", "/tmp")))
        atexit.register(self.close)
        (self.folder / "bin").mkdir()
        self.opened = self.folder / "opened"
        opener = self.folder / "bin" / "xdg-open"
        opener.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$1\" >>'{self.opened}'\n")
        opener.chmod(0o755)
        self.daemon = HostedDaemon(self.folder)
        self.home = self.folder / "home"
        self.kept = self.folder / "browser"
        self.kept.mkdir()
        # The browser gives its environment to the host.
        for name in [name for name in os.environ if name.startswith(("XDG_", "FERRY_")) and name != "FERRY_ORIGIN"]:
            del os.environ[name]
        os.environ.update(self.daemon.environment)
        # Chromium's profile stands in the home, where a user has it.
        os.environ.pop("XDG_CONFIG_HOME", None)
        self.daemon.environment.pop("XDG_CONFIG_HOME", None)
        self.site = Site()
        self.browser = None
        self.install()
        self.browser = Browser(self.home, self.kept)

    def install(self):
        done = self.daemon.ferry("browser", "install", "firefox" if IS_FIREFOX else "chromium")
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def uninstall(self):
        self.daemon.ferry("browser", "uninstall", "firefox" if IS_FIREFOX else "chromium")

    def hosts(self):
        """The processes of the host that this home's browser has started."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                words, environment = (place / "cmdline").read_bytes(), (place / "environ").read_bytes()
            except OSError:
                continue
            is_host = any(word.encode() in words for word in (f"chrome-extension://{CHROMIUM_ID}/", f"\0{GECKO_ID}\0"))
            if is_host and b"ferry" in words.split(b"\0")[0] and str(self.daemon.socket).encode() in environment:
                found.append(int(place.name))
        return found

    def close(self):
        if self.browser is not None:
            self.browser.quit()
        self.daemon.ferry("stop")
        self.site.close()
        shutil.rmtree(self.folder, ignore_errors=True)


_stage = None


def stage():
    global _stage
    if _stage is None:
        _stage = Stage()
    return _stage


class ExtensionTest(unittest.TestCase):
    maxDiff = None
    settings = {}

    def setUp(self):
        there = stage()
        self.site, self.daemon, self.browser, self.stage = there.site, there.daemon, there.browser, there
        self.site.reset()
        self.stage.install()
        self.daemon.settle()
        for path in there.kept.iterdir():
            path.unlink()
        there.opened.unlink(missing_ok=True)
        self.browser.inside(
            "await api.storage.local.clear(); await api.storage.session.clear();"
            "await api.storage.local.set(arguments[0]);"
            "for (const {id} of await api.downloads.search({})) { await api.downloads.cancel(id).catch(() => {});"
            "await api.downloads.erase({id}); } return true", {"smallest": 0, **self.settings})

    def tearDown(self):
        self.site.gate.set()
        folder = os.environ.get("PAGE_ARTIFACTS")
        result = self._outcome.result
        if folder and any(test is self for test, _ in result.failures + result.errors):
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.browser.driver.save_screenshot(str(Path(folder) / f"{self.id()}.png"))
            title = self.browser.inside("return await api.action.getTitle({})")
            (Path(folder) / f"{self.id()}.txt").write_text(f"{title}\n{self.browser.own_downloads()}\n{self.daemon.listed()}\n")

    # What a user does, and sees.

    def visit(self, html, path="/page"):
        self.site.page = f"<!doctype html><title>Files</title><body>{html}"
        self.browser.open(self.site.url + path)

    def take(self, known=()):
        """Clicks a link whose file stops in the middle until the daemon has it: what is complete before stays with Firefox."""
        known = {*known, *(one["id"] for one in self.daemon.listed())}
        self.site.held = 1_000_000
        self.browser.press("#file")
        self.until(lambda: {one["id"] for one in self.daemon.listed()} - known, "the daemon has it")
        self.until(lambda: not any(one["state"] == "paused" for one in self.daemon.listed()), "the browser has given it up")
        self.site.held = None
        self.site.gate.set()

    def until(self, condition, what):
        return self.browser.until(condition, what)

    def one_listed(self, state="completed"):
        """The only download of the daemon, once it has this state."""
        def found():
            items = self.daemon.listed()
            self.assertLessEqual(len(items), 1)
            return items[0] if items and state in (items[0]["state"], items[0].get("waitReason")) else None
        try:
            return self.until(found, f"a download is {state}")
        except TimeoutException as error:
            raise AssertionError(f"no download is {state}: {self.daemon.listed()}, the browser: {self.browser.own_downloads()}") from error

    def kept_file(self, name):
        """The file that the browser itself has downloaded, once it is whole."""
        return self.until(lambda: self.kept_now(name), f"the browser has {name}")

    def kept_now(self, name):
        """The same, None while it is not whole."""
        path = self.stage.kept / name
        names = [path.name for path in self.stage.kept.iterdir()]
        return path if names == [name] and path.stat().st_size > 0 else None

    def without_host(self):
        """Uninstalls the host; returns when none runs, as one that runs would be used further."""
        self.stage.uninstall()
        self.until(lambda: not self.stage.hosts(), "the host has ended")

    def badge(self):
        return self.browser.inside("return await api.action.getBadgeText({})")
