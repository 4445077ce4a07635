"""Who gets in, and how."""

import os
import pty
import re
import shutil
import socket
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from browser import NAME
from case import PageTest
from servers import ROOT, end, line_of, own_environment, program


class SigningIn(PageTest):
    signs_in = False

    def start(self, fragment=""):
        self.browser.open(self.daemon.page)
        self.browser.js("localStorage.clear(); sessionStorage.clear()")
        self.browser.faults()  # What the page of an earlier test asked for may be gone.
        self.browser.open(self.daemon.page + fragment)

    def test_without_a_key_the_page_names_the_command_that_opens_it(self):
        self.start()
        self.assertEqual(self.browser.one(".command").text, "ferry web")
        self.assertEqual(self.browser.all(".add-field"), [])
        self.browser.js("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        self.browser.press(".command-line button")
        self.browser.until(lambda: self.browser.one(".command-line button").get_attribute("aria-label") == "Copied", "it says so")
        self.assertEqual(self.browser.js("return window.copied"), "ferry web")

    def test_a_one_time_code_opens_it_and_leaves_the_address(self):
        code = self.daemon.code()
        self.start(f"#code={code}")
        self.browser.one(".add-field")
        self.assertEqual(self.browser.driver.current_url, self.daemon.page)
        kept = self.browser.js("return JSON.stringify([{...sessionStorage}, {...localStorage}])")
        self.assertNotIn(code, kept)
        self.assertEqual(self.browser.js("return document.cookie"), "")
        self.assertEqual(
            self.browser.js("return Object.entries(localStorage).filter(([, text]) => text.length > 20).map(([name]) => name)"), ["ferry.token"])
        # The code does not open it a second time.
        self.forgives = [r"/api/v1/login .*(401|403)"]
        self.start(f"#code={code}")
        self.assertIn("used already", self.browser.one(".notice").text)
        self.assertEqual(self.browser.all(".add-field"), [])

    def test_the_file_that_the_opener_gets_leads_to_the_page(self):
        self.start()
        made = self.daemon.call("POST", "/codes", {})
        self.assertEqual(os.stat(made["file"]).st_mode & 0o777, 0o600)
        self.browser.open("file://" + made["file"])
        self.browser.one(".add-field")
        self.assertEqual(self.browser.driver.current_url, self.daemon.page)
        self.assertFalse(os.path.exists(made["file"]), "it goes when its code is used")

    def test_a_browser_is_signed_out_by_another_one(self):
        self.start(f"#code={self.daemon.code()}")
        self.browser.one(".add-field")
        other = self.daemon.sign_in()
        items = self.daemon.call("GET", "/tokens")["items"]
        mine, others = [next(item for item in items if item["name"].lower().startswith(NAME[:5]) == own) for own in (True, False)]
        self.browser.press(".browsers-button")
        self.browser.until(lambda: len(self.browser.all("dialog.browsers li")) == len(items), "all are listed")
        self.assertEqual(len(self.browser.all("dialog.browsers .browser-own")), 1)
        self.assertNotIn(other, self.browser.js("return document.body.innerHTML"))
        self.browser.press(f'button[data-browser="{others["id"]}"]')
        self.browser.gone(f'button[data-browser="{others["id"]}"]')
        self.assertNotIn(others["id"], [item["id"] for item in self.daemon.call("GET", "/tokens")["items"]])
        # The page is told that it was signed out, and shows how to sign in again.
        self.forgives = [r"/api/v1/?\S* .*401", r"/api/v1/events"]
        self.daemon.call("DELETE", f"/tokens/{mine['id']}", {})
        self.assertIn("no longer valid", self.browser.one(".notice").text)
        self.assertEqual(self.browser.driver.switch_to.active_element.get_attribute("id"), "content", "the focus is not lost")

    def test_who_signs_out_goes_on_at_the_page_that_says_so(self):
        self.start(f"#code={self.daemon.code()}")
        self.browser.one(".add-field")
        self.forgives = [r"/api/v1/?\S* .*401", r"/api/v1/events"]
        self.browser.press(".browsers-button")
        self.browser.press("dialog.browsers li:has(.browser-own) button")
        self.assertIn("is signed out", self.browser.one(".notice").text)
        self.assertEqual(self.browser.driver.switch_to.active_element.get_attribute("id"), "content")

    def test_a_key_that_is_no_longer_good_leads_to_the_sign_in(self):
        self.start()
        self.browser.js("localStorage.setItem('ferry.token', 'f'.repeat(64))")
        self.forgives = [r"/api/v1/\S+ .*401"]
        self.browser.open(self.daemon.page)
        self.assertIn("no longer valid", self.browser.one(".notice").text)
        self.assertIsNone(self.browser.js("return localStorage.getItem('ferry.token')"))

    def test_links_that_were_typed_outlive_a_reload_and_a_key_that_ends(self):
        self.start(f"#code={self.daemon.code()}")
        link = "http://localhost/typed.bin"
        self.browser.write(".add-field", link)
        typed = lambda: self.browser.one(".add-field").get_attribute("value") == link
        self.browser.driver.refresh()
        self.browser.until(typed, "it is there after a reload")
        self.forgives = [r"/api/v1/?\S* .*401", r"/api/v1/events"]
        for token in self.daemon.call("GET", "/tokens")["items"]:
            self.daemon.call("DELETE", f"/tokens/{token['id']}", {})
        self.assertIn("no longer valid", self.browser.one(".notice").text)
        self.browser.open(f"{self.daemon.page}#code={self.daemon.code()}")
        self.browser.until(typed, "it is there for whom comes back")
        # What was taken is kept no longer.
        self.assertIsNone(self.browser.js("return sessionStorage.getItem('ferry.draft')"))

    def test_options_that_were_set_outlive_a_reload_a_key_that_ends_and_another_language(self):
        self.start(f"#code={self.daemon.code()}")
        link = self.origin.file("10K", "kept.bin")
        self.browser.write(".add-field", link)
        self.browser.press(".options-toggle")
        for name, text in (("name", "own.bin"), ("user", "me"), ("password", "secret"), ("rateLimit", "1 MB/s")):
            self.browser.write(f"[name={name}]", text)
        self.browser.press("[name=startsPaused]")
        value = lambda name: self.browser.js("return document.querySelector(`.options [name=${arguments[0]}]`)?.value ?? null", name)
        problem = lambda: self.browser.text(".field-password .field-error")
        # Another language: nothing is lost.
        self.browser.js("""
            const select = document.querySelector('[name=language]');
            select.value = 'zh';
            select.dispatchEvent(new Event('change'));""")
        self.browser.until(lambda: value("password") == "secret" and value("name") == "own.bin", "all is there")
        self.assertEqual(problem(), "")
        self.browser.js("""
            const select = document.querySelector('[name=language]');
            select.value = 'en';
            select.dispatchEvent(new Event('change'));""")
        self.forgives = [r"/api/v1/?\S* .*401", r"/api/v1/events"]
        for token in self.daemon.call("GET", "/tokens")["items"]:
            self.daemon.call("DELETE", f"/tokens/{token['id']}", {})
        self.assertIn("no longer valid", self.browser.one(".notice").text)
        self.assertNotIn("secret", self.browser.js("return JSON.stringify(sessionStorage)"))
        self.browser.open(f"{self.daemon.page}#code={self.daemon.code()}")
        self.browser.until(lambda: value("name") == "own.bin" and value("user") == "me", "they are there for whom comes back")
        self.assertEqual(value("password"), "")
        self.browser.until(lambda: "not kept" in problem(), "that the password is not there is said")
        # Sent without it, nothing is added before its user knows.
        self.browser.one(".add-field").send_keys(Keys.ENTER)
        self.browser.until(
            lambda: self.browser.driver.switch_to.active_element.get_attribute("name") == "password", "the password has the focus")
        self.assertEqual(self.daemon.items(), [])
        self.browser.driver.switch_to.active_element.send_keys("secret" + Keys.ENTER)
        self.browser.until(lambda: [item["name"] for item in self.daemon.items()] == ["own.bin"], "it is added with its options")
        [added] = self.daemon.items()
        self.assertEqual((added["state"], self.daemon.show(added["id"])["rateLimit"]), ("paused", 1_000_000))

    def test_a_browser_that_is_signed_in_stays_so_in_every_tab(self):
        self.start(f"#code={self.daemon.code()}")
        self.browser.one(".add-field")
        driver, first = self.browser.driver, self.browser.driver.current_window_handle
        count = len(self.daemon.call("GET", "/tokens")["items"])
        try:
            driver.switch_to.new_window("tab")
            driver.get(self.daemon.page)
            self.browser.one(".add-field")
            # Another code, as ferry web brings one, makes no second key for the same browser.
            driver.get("about:blank")
            driver.get(f"{self.daemon.page}#code={self.daemon.code()}")
            self.browser.one(".add-field")
            self.assertEqual(driver.current_url, self.daemon.page)
            self.assertEqual(len(self.daemon.call("GET", "/tokens")["items"]), count)
        finally:
            driver.close()
            driver.switch_to.window(first)

    def test_the_sign_in_page_tells_how_to_come_from_another_machine(self):
        self.start()
        self.browser.press(".elsewhere summary")
        port = self.browser.js("return location.port")
        self.assertIn(f"ssh -L {port}:127.0.0.1:{port}", self.browser.one(".elsewhere").text)
        for width in (1280, 390, 320):
            self.browser.set_size(width, 800)
            off = self.browser.until(lambda: self.browser.js("""
                const middle = (node) => (({ left, right }) => (left + right) / 2)(node.getBoundingClientRect());
                const card = document.querySelector('.sign-in-card');
                const nodes = card.querySelectorAll('h1, p, .elsewhere, .command-line');
                return innerWidth === arguments[0] && [...nodes].map((node) => Math.abs(middle(node) - middle(card)))""", width), f"{width} pixels")
            self.assertLess(max(off), 1, f"all stands in the middle at {width} pixels")

    def test_serve_on_a_terminal_prints_the_address_that_signs_in(self):
        folder = Path(tempfile.mkdtemp(prefix="ferry-tty.", dir=os.environ.get("TMPDIR", "/tmp")))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        controller, terminal = pty.openpty()
        self.addCleanup(os.close, controller)
        process = subprocess.Popen(
            [program("ferry"), "serve", "--port", "0", "--dir", str(folder)], env=own_environment(folder), cwd=folder,
            stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.DEVNULL)
        os.close(terminal)
        self.addCleanup(end, process)
        self.browser.open(line_of(controller, process).strip())
        self.browser.one(".add-field")
        self.browser.open("about:blank")

    def test_another_host_gets_a_page_that_tells_where_to_go(self):
        self.forgives = [r"421", r"favicon"]
        self.browser.open(f"http://{socket.gethostname()}.localhost:{self.daemon.port}/")
        self.assertIn(f"ssh -L {self.daemon.port}:127.0.0.1:{self.daemon.port}", self.browser.one("body").text)
        self.browser.press("a")
        self.browser.one(".command")

    def test_every_asset_is_compiled_in_and_served_with_its_type_and_the_policy(self):
        self.start()
        folder = ROOT / "Sources" / "FerryServer" / "Page" / "Assets"
        types = {"index.html": "text/html", "page.js": "text/javascript", "page.css": "text/css", "mark.svg": "image/svg+xml", "manifest.webmanifest": "application/json"}
        for name, kind in types.items():
            with self.subTest(name), urllib.request.urlopen(self.daemon.page + name) as answer:
                self.assertEqual(answer.headers["Content-Type"].split(";")[0], kind)
                self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
                self.assertEqual(answer.headers["Referrer-Policy"], "no-referrer")
                policy = answer.headers["Content-Security-Policy"]
                self.assertIn("default-src 'none'", policy)
                self.assertIn("frame-ancestors 'none'", policy)
                self.assertNotIn("unsafe", policy)
                served = answer.read()
                suffix = Path(name).suffix
                if suffix in (".html", ".svg", ".webmanifest"):
                    self.assertEqual(served, (folder / name).read_bytes(), "build anew: this is not what is compiled in")
                if suffix == ".js":
                    second, = set(re.findall(rb"'\./(later-\w+\.js)'", served))
                    with urllib.request.urlopen(self.daemon.page + second.decode()) as answer:
                        self.assertEqual(answer.headers["Content-Type"].split(";")[0], kind)
                        served = served.replace(second, b"later.js") + answer.read()
                for part in folder.glob(f"*{suffix}"):
                    lines = {line for line in part.read_bytes().split(b"\n") if not line.startswith((b"import ", b"export "))}
                    if suffix in (".js", ".css"):
                        lines = {code for line in lines if (code := line.lstrip(b" ")) and not code.startswith((b"//", b"/*"))}
                    self.assertEqual(lines - set(served.split(b"\n")), set(), f"build anew: {part.name} is not what is compiled in")
