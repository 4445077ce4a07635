"""axe-core, a checker of accessibility: none of its rules is broken in any view, in light and dark, in English and Chinese."""

import importlib.util
import json
from pathlib import Path

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from case import PageTest
from servers import Listener

# The package carries the file of axe-core, which is under another licence than Ferry: it is installed, and not copied here.
AXE = Path(importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]) / "axe.min.js"
ROW = '.row[data-id="{}"] '


class Axe(PageTest):
    def check(self, view):
        """In light and in dark; what is moving has come to rest before."""
        for theme in ("light", "dark"):
            with self.subTest(view, theme=theme, language=self.languages):
                if not self.browser.js("return 'axe' in window"):
                    self.browser.js(AXE.read_text())
                broken = self.browser.js("""
                    document.documentElement.dataset.theme = arguments[0];
                    await Promise.allSettled(document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime !== Infinity).map((each) => each.finished));
                    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
                    return violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html, failureSummary }) => [html, failureSummary])])""", theme)
                self.assertEqual(broken, [])

    def escape(self):
        ActionChains(self.browser.driver).send_keys(Keys.ESCAPE).perform()

    def fill(self):
        """One of each kind; gives their identifiers."""
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        made = {
            "completed": self.daemon.add(self.origin.file("10K", "done.bin")),
            "failed": self.daemon.add(self.origin.file("10K", "wrong.bin"), checksum=f"sha-256:{'0' * 64}"),
        }
        for state, identifier in made.items():
            self.browser.until_state(identifier, state)
        made["needs"] = self.daemon.add(self.origin.file("10K", "members.bin", "auth=basic:me:secret-word"))
        self.browser.until(lambda: self.browser.all(ROW.format(made["needs"]) + "[data-action=open]"), "it asks")
        made["paused"] = self.held(name="paused.bin", startsPaused=True)
        made["running"] = self.held(name="runs.bin")
        self.browser.until_state(made["running"], "downloading")
        made["waiting"] = self.held(name="waits.bin")
        self.browser.until_state(made["waiting"], "waiting")
        return made

    def test_no_view_breaks_a_rule(self):
        self.check("empty list")
        made = self.fill()
        self.browser.until(lambda: not self.browser.all(".toast"), "no message")
        self.check("list")
        self.browser.write(".add-field", "magnet:?xt=urn:btih:x")
        self.browser.press(".options-toggle")
        for section in self.browser.all(".options .section summary"):
            section.click()
        self.browser.press(".options [name=insecure]")
        self.check("what is no link, and the options")
        self.browser.press(".options [name=insecure]")
        self.browser.write(".add-field", "")
        self.browser.press(".options-toggle")
        self.browser.press(self.browser.in_row(made["running"], "[data-action=more]"))
        self.check("menu of a row")
        self.escape()
        for name in ("running", "failed", "needs", "completed"):
            self.browser.press(self.browser.in_row(made[name], ".row-name"))
            self.browser.until(lambda: self.browser.text("dialog.detail .facts"), "the details")
            if name != "completed":
                self.unfold()
                self.browser.press("dialog.detail .section summary")
            self.check(f"details of one that is {name}")
            self.browser.press("dialog.detail .detail-head button")
        for button, name in ((".help-button", "keys"), (".settings-button", "settings"), (".browsers-button", "browsers")):
            self.browser.press(button)
            self.browser.one("dialog.dialog")
            self.check(name)
            self.escape()
            self.browser.gone("dialog.dialog")
        self.browser.press(self.browser.in_row(made["failed"], ".row-check"))
        self.browser.press(".selection [aria-haspopup=menu]")
        self.check("selection, and its menu")
        self.escape()
        self.browser.press(".selection [data-action=remove]")
        self.browser.one("dialog.question")
        self.check("question")
        self.escape()
        self.browser.press(self.browser.button(made["completed"], "remove"))
        self.browser.one(".toast")
        self.check("message")
        self.browser.set_size(1700, 900)
        self.browser.one(".columns")
        self.check("columns")
        self.browser.set_size(390, 844, True, 2)
        self.check("phone")
        self.browser.press(".totals-toggle")
        self.check("phone, limits")
        self.browser.press(self.browser.in_row(made["running"], ".row-name"))
        self.browser.one("dialog.detail")
        self.check("phone, details")
        self.browser.js("localStorage.removeItem('ferry.token')")
        self.browser.driver.refresh()
        self.browser.one(".command")
        self.check("sign-in")


    def test_no_view_of_sets_breaks_a_rule(self):
        lines = [json.dumps({"url": self.origin.file("10K", name, query), "path": name}) for name, query in (
            ("a.bin", ""), ("b.bin", "status=404"), ("../c.bin", ""))]
        lists = Listener(lambda path, headers: (200, {}, "\n".join(lines[:1] if path == "/one" else lines).encode()))
        self.addCleanup(lists.close)
        made = {}
        for path, state in (("/one", "complete"), ("/all", "incomplete")):
            made[state] = self.daemon.call("POST", "/sets", {"url": lists.url + path, "directory": str(self.daemon.downloads / path[1:])})["id"]
        self.browser.until(lambda: {each["state"] for each in self.daemon.sets()} == {"complete", "incomplete"}, "they have ended")
        self.browser.until(lambda: len(self.browser.all(".row")) == 2 and not self.browser.all(".toast"), "no message")
        self.check("sets")
        for state, identifier in made.items():
            self.browser.press(self.browser.in_row(identifier, ".row-name"))
            self.browser.until(lambda: self.browser.text("dialog.detail .facts"), "the details")
            self.check(f"details of a set that is {state}")
            self.browser.press("dialog.detail .detail-head button")
        self.browser.press(self.browser.in_row(made["complete"], "[data-action=more]"))
        self.check("menu of a set")
        self.escape()
        self.browser.press(".options-toggle")
        self.browser.press(".options [name=isSet]")
        self.check("options of a set")
        self.browser.press(".options-toggle")
        self.browser.set_size(1700, 900)
        self.browser.one(".columns")
        self.check("sets, columns")
        self.browser.set_size(390, 844, True, 2)
        self.check("sets, phone")


class ChineseAxe(Axe):
    languages = "zh-CN,zh"
