"""AriaNg, a panel for aria2, as it is, in headless Chromium. ARIANG is the folder of a built one (its index.html)."""

import base64
import functools
import http.server
import os
import shutil
import tempfile
import threading
import unittest

from servers import PATIENCE, Daemon, Origin

FOLDER = os.environ.get("ARIANG")
SECRET = "a token"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@unittest.skipUnless(FOLDER, "ARIANG does not name a folder")
@unittest.skipUnless(shutil.which("chromium") and shutil.which("chromedriver"), "no Chromium here")
class AriaNg(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from browser import new_driver

        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=FOLDER))
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.panel = f"http://127.0.0.1:{cls.server.server_port}"
        cls.origin = Origin()
        cls.daemon = Daemon("--aria2-rpc", "0", "--aria2-secret", SECRET, "--aria2-allow-origin", cls.panel)
        cls.profile = tempfile.mkdtemp(prefix="ferry-browser.")
        cls.driver = new_driver(cls.profile)

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.daemon.close()
        cls.origin.stop()
        cls.server.shutdown()
        cls.server.server_close()
        shutil.rmtree(cls.profile, ignore_errors=True)

    def tearDown(self):
        self.daemon.settle()

    def open(self, place):
        # The same document would not read the address again.
        self.driver.get("about:blank")
        self.driver.get(f"{self.panel}/#!/{place}")

    def sees(self, *texts):
        from selenium.webdriver.support.ui import WebDriverWait

        def there(driver):
            body = driver.find_element("tag name", "body").text
            return all(text in body for text in texts)

        WebDriverWait(self.driver, PATIENCE).until(there, f"{texts} not in the page")

    def connect(self, protocol):
        secret = base64.b64encode(SECRET.encode()).decode()
        self.open(f"settings/rpc/set/{protocol}/127.0.0.1/{self.daemon.aria2_port}/jsonrpc/{secret}")
        # Its own status of the server: the version it was told.
        self.open("status")
        self.sees("1.36.0", "Connected")

    def use(self, protocol):
        self.connect(protocol)
        link = self.origin.file(5_000_000, f"{protocol}.bin")
        self.open("new/task?url=" + base64.b64encode(link.encode()).decode())
        while (found := self.daemon.named(f"{protocol}.bin")) is None or found["state"] != "completed":
            pass
        self.open("stopped")
        self.sees(f"{protocol}.bin")
        slow = self.daemon.add(self.origin.file(50_000_000, "slow.bin", "rate=100k"))
        self.open("downloading")
        self.sees("slow.bin")
        self.daemon.call("POST", f"/downloads/{slow}/pause", {})
        self.open("waiting")
        self.sees("slow.bin")
        self.assertEqual((self.daemon.downloads / f"{protocol}.bin").stat().st_size, 5_000_000)

    def test_over_http(self):
        self.use("http")

    def test_over_a_websocket(self):
        self.use("ws")


if __name__ == "__main__":
    unittest.main()
