"""Sets of files: each is one entry of the list, which moves, pauses, says what is missing, and can be looked at again."""

import itertools
import json
import urllib.parse
import urllib.request

from selenium.webdriver.common.keys import Keys

from case import PageTest
from servers import PATIENCE, Listener

PANEL = "dialog.detail"
# The names of files at the origin, which all tests share.
SCENES = itertools.count()
EVIL = "<img src=x onerror=window.ran.push(1)>"


class SetTest(PageTest):
    def listen(self, answer):
        listener = Listener(answer)
        self.addCleanup(listener.close)
        return listener.url

    def list_of(self, files):
        """The address of a list with these paths. Each file is answered as `serve` says, at first by the query that is given."""
        scene = next(SCENES)
        self.urls = {}

        def answer(path, headers):
            lines = (json.dumps({"url": url, "path": name}) for name, url in self.urls.items())
            return 200, {"Content-Type": "application/jsonl"}, "".join(f"{line}\n" for line in lines).encode()
        for number, (name, query) in enumerate(files.items()):
            self.urls[name] = f"{self.origin.base}/scene/{scene}-{number}"
            self.serve(name, query)
        return self.listen(answer) + "/list.jsonl"

    def serve(self, name, query=""):
        """The file of the list is what the origin sends for this query from now on."""
        url = self.urls[name].replace("/scene/", "/set/", 1)
        with urllib.request.urlopen(f"{url}?/file/300K/f.bin?{query}", timeout=PATIENCE) as answer:
            self.assertEqual(answer.status, 200)

    def index_of(self, *names):
        """The address of an index page, and of the files that it links."""
        def answer(path, headers):
            if path.endswith("/"):
                links = "".join(f'<a href="{urllib.parse.quote(name)}">{name}</a>\n' for name in names)
                return 200, {"Content-Type": "text/html"}, f"<html><body>{links}</body></html>".encode()
            return 200, {"ETag": f'"{path}"'}, path.encode() * 100
        return self.listen(answer) + "/pub/release-1.0/"

    def add(self, url, directory="kept", **members):
        return self.daemon.call("POST", "/sets", {"url": url, "directory": str(self.downloads_of(directory)), **members})["id"]

    def downloads_of(self, directory):
        return self.daemon.downloads / directory

    def part(self, identifier, name):
        return self.browser.text(self.browser.in_row(identifier, f".row-{name}"))

    def until_part(self, identifier, name, text):
        self.browser.until(lambda: self.part(identifier, name) == text, lambda: f"{text}, not {self.part(identifier, name)}")

    def until_held(self, identifier):
        """One of two files is here, the other is on its way."""
        self.until_part(identifier, "amount", "1 of 2 files")
        self.browser.until_state(identifier, "downloading")

    def held_set(self, directory="kept"):
        return self.add(self.list_of({"a.bin": "", "b.bin": "rate=1K"}), directory)


class Sets(SetTest):
    def test_a_set_is_one_row_that_moves_pauses_goes_on_and_ends_complete(self):
        url = self.list_of({"a.bin": "", "b.bin": "rate=1K"})
        identifier = self.add(url)
        self.until_held(identifier)
        self.assertEqual(self.browser.names(), ["kept"], "one row, and none for its files")
        self.assertEqual(self.part(identifier, "state"), "Syncing…")
        self.assertEqual(self.part(identifier, "percent"), "50.0%")
        # With what has come of the other one.
        self.assertRegex(self.part(identifier, "reason"), r"^30\d\.\d KB received")
        self.browser.until(lambda: "/s" in self.part(identifier, "speed"), "the speed")
        self.assertIn(url, self.part(identifier, "reason"))
        bar = self.browser.one(self.browser.in_row(identifier, "[role=progressbar]"))
        self.assertEqual(bar.get_attribute("aria-label"), "Progress of kept")
        self.assertEqual(bar.get_attribute("aria-valuetext"), "Syncing…, 50.0%, 1 of 2 files")
        self.assertEqual(self.browser.text(".chip[data-filter=running] .chip-count"), "1")
        self.browser.press(self.browser.button(identifier, "pause"))
        self.until_part(identifier, "state", "Paused")
        self.assertEqual(self.daemon.sets()[0]["state"], "paused")
        self.assertEqual(self.browser.text(self.browser.button(identifier, "resume")), "Resume")
        self.serve("b.bin")
        self.browser.press(self.browser.button(identifier, "resume"))
        self.until_part(identifier, "state", "Complete")
        self.assertEqual(self.part(identifier, "amount"), "2 of 2 files")
        self.assertIn(f": {self.downloads_of('kept')}", self.part(identifier, "reason"))
        self.browser.until(lambda: "kept: Complete." in self.browser.text("[data-live=polite]"), "it is announced")
        self.assertIn("Complete · as of", self.browser.one(".toast").text)
        self.assertEqual((self.downloads_of("kept") / "b.bin").read_bytes(), self.origin.bytes(300_000))
        self.urls["c.bin"] = self.origin.file("20K", "c.bin")
        self.assertEqual(self.browser.text(self.browser.button(identifier, "resume")), "Look for changes")
        self.browser.press(self.browser.button(identifier, "resume"))
        self.until_part(identifier, "amount", "3 of 3 files")
        self.until_part(identifier, "state", "Complete")

    def test_one_whose_files_wait_for_other_downloads_says_so(self):
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        self.browser.until_state(self.held(name="first.bin"), "downloading")
        identifier = self.add(self.list_of({"a.bin": "", "b.bin": ""}))
        self.browser.until(lambda: "others run first" in self.part(identifier, "reason"), "why nothing of it comes")
        self.assertEqual(self.part(identifier, "state"), "Waiting to sync")
        self.assertEqual(self.browser.state(identifier), "waiting")
        self.assertEqual(self.browser.one(".chip[data-filter=running] .chip-count").text, "1", "it is not counted with those that run")
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 2})
        self.browser.until_state(identifier, "completed")

    def test_an_incomplete_one_names_what_is_missing(self):
        identifier = self.add(self.list_of({"a.bin": "", "dir/b.bin": "status=404"}))
        self.until_part(identifier, "state", "Incomplete")
        self.assertIn("1 file missing or not current: dir/b.bin", self.part(identifier, "reason"))
        self.assertEqual(self.browser.text(".chip[data-filter=failed] .chip-count"), "1")
        self.browser.until(lambda: "dir/b.bin" in self.browser.text("[data-live=assertive]"), "it is announced")
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.browser.until(lambda: self.browser.text(f"{PANEL} .part-missing .mono") == "dir/b.bin", "which file")
        self.assertEqual(self.browser.text(f"{PANEL} .part-missing li p"), self.daemon.sets()[0]["incomplete"][0]["error"]["messages"]["en"])
        self.assertNotEqual(self.browser.text(f"{PANEL} .part-missing li p"), "")
        self.assertIn("About this set", self.browser.text(PANEL))
        self.assertIn("/list.jsonl", self.browser.text(f"{PANEL} .facts"))
        for part in (".part-map", ".part-graph", ".part-change", ".part-events", ".part-problems"):
            self.assertFalse(self.browser.all(f"{PANEL} {part}")[0].is_displayed(), part)
        self.serve("dir/b.bin")
        self.browser.press(f"{PANEL} .detail-buttons [data-action=resume]")
        self.browser.until(lambda: self.browser.text(f"{PANEL} .detail-state") == "Complete", "it is complete")
        self.browser.gone(f"{PANEL} .part-missing")
        self.assertIn("Every listed file is here", self.browser.text(f"{PANEL} .detail-reason"))
        self.browser.press(f"{PANEL} .detail-head button")
        self.browser.until(lambda: self.browser.driver.switch_to.active_element.get_attribute("data-id") == identifier, "back to its row")

    def test_a_list_that_is_not_there_says_why(self):
        identifier = self.add(self.origin.file("1K", "none.txt", "status=404"))
        self.until_part(identifier, "state", "Sync failed")
        self.assertIn(self.daemon.sets()[0]["error"]["messages"]["en"], self.part(identifier, "reason"))

    def test_one_whose_list_cannot_be_read_says_why_and_when_it_is_read_again(self):
        is_busy = True

        def answer(path, headers):
            if is_busy:
                return 503, {"Retry-After": "600"}, b""
            if path.endswith("/"):
                return 200, {"Content-Type": "text/html"}, b'<html><body><a href="a.bin">a.bin</a></body></html>'
            return 200, {"ETag": '"a"'}, b"a" * 100
        url = self.listen(answer) + "/pub/"
        identifier = self.add(url)
        self.browser.until(lambda: "next attempt in" in self.part(identifier, "reason"), "when it is read again")
        reason = lambda: self.part(identifier, "reason")
        self.assertIn(self.daemon.sets()[0]["error"]["messages"]["en"], reason())
        self.assertIn("503", reason())
        self.assertEqual(reason().count(url), 1, "its link, once")
        self.assertEqual(self.part(identifier, "state"), "Syncing…")
        before = reason()
        self.browser.until(lambda: reason() != before, "the time goes on")
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        detail = lambda: self.browser.text(f"{PANEL} .detail-reason")
        self.browser.until(lambda: "503" in detail() and "next attempt in" in detail(), "the details say so too")
        before = detail()
        self.browser.until(lambda: detail() != before, "the time goes on there")
        self.browser.press(f"{PANEL} .detail-head button")
        self.browser.gone(PANEL)
        self.daemon.call("POST", f"/sets/{identifier}/pause")
        self.until_part(identifier, "state", "Paused")
        self.assertNotIn("503", reason())
        is_busy = False
        self.daemon.call("POST", f"/sets/{identifier}/resume")
        self.until_part(identifier, "state", "Complete")
        # What was listed before hides nothing of the next attempt.
        is_busy = True
        self.daemon.call("POST", f"/sets/{identifier}/resume")
        self.browser.until(lambda: "503" in reason() and "next attempt in" in reason(), "why it is not synced again")

    def test_one_whose_link_is_wrong_says_what_to_do(self):
        url = self.origin.file("1K", "none.txt", "status=404")
        identifier = self.add(url)
        self.until_part(identifier, "state", "Sync failed")
        self.assertEqual(self.part(identifier, "reason").count(url), 1, "its link, once")
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.browser.until(lambda: "add it again with the right link" in self.browser.text(f"{PANEL} .detail-reason"), "what to do")
        self.assertNotIn("Try again later", self.browser.text(PANEL))
        self.assertNotIn("Last synced", self.browser.text(PANEL), "it never was")

    def test_one_whose_list_wants_a_sign_in_offers_the_command(self):
        url = self.listen(lambda path, headers: (401, {"WWW-Authenticate": 'Basic realm="x"'}, b"")) + "/it's.jsonl"
        identifier = self.add(url, exclude=["*.asc"])
        self.until_part(identifier, "state", "Sync failed")
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.browser.until(lambda: "wants a user and a password" in self.browser.text(f"{PANEL} .detail-reason"), "what is needed")
        quoted = url.replace("'", "'\\''")
        command = f"ferry sync '{quoted}' {self.downloads_of('kept')} '--exclude=*.asc' --user USER"
        self.assertIn(command, [each.text for each in self.browser.all(f"{PANEL} .facts .mono")])

    def test_what_of_a_list_cannot_be_used_is_shown(self):
        identifier = self.add(self.list_of({"a.bin": "", "../b.bin": ""}))
        self.until_part(identifier, "state", "Incomplete")
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.browser.until(lambda: self.browser.text(f"{PANEL} .part-problems li") == self.daemon.sets()[0]["problems"][0], "the problem")
        self.assertIn("parts of the source cannot be used", self.browser.text(f"{PANEL} .detail-reason"))

    def test_on_a_phone_labels_of_buttons_and_reasons_are_seen_whole(self):
        complete = self.add(self.list_of({"a.bin": ""}))
        self.until_part(complete, "state", "Complete")
        failed = self.daemon.add(self.origin.file("1M", "failed.bin"), checksum=f"sha-256:{'0' * 64}")
        waits = self.daemon.add(self.busy())
        for width in (390, 320):
            self.browser.set_size(width, 1000, True, 2)
            self.browser.until_state(failed, "failed")
            self.browser.until(lambda: "next attempt" in self.part(waits, "reason"), "when it tries again")
            for each in (complete, failed, waits):
                reason = self.browser.js("""
                    const box = (node) => node.getBoundingClientRect();
                    const row = document.querySelector(`.row[data-id='${arguments[0]}']`);
                    const [what, reason, facts] = ['.row-what', '.row-reason', '.row-facts'].map((each) => row.querySelector(each));
                    const isCut = reason.scrollHeight > reason.clientHeight + 1 || reason.scrollWidth > reason.clientWidth + 1;
                    return [reason.textContent, box(reason).bottom <= box(facts).bottom + 1, isCut,
                      box(what).top >= box(row).top && box(row.querySelector('.row-actions')).bottom <= box(row).bottom]""", each)
                self.assertNotEqual(reason[0], "")
                state = self.browser.one(self.browser.in_row(each, ".row-state"))
                is_cut = self.browser.js("return arguments[0].scrollWidth > arguments[0].clientWidth + 1", state)
                self.assertFalse(is_cut and (each != failed or width > 320), f"{state.text}, at {width} pixels")
                # Of a complete set it has the path and the source.
                self.assertEqual(reason[1:], [True, each == complete and reason[2], True], f"{reason[0]}, at {width} pixels")
                beyond = self.browser.js("""
                    const box = (node) => node.getBoundingClientRect();
                    const buttons = [...document.querySelectorAll(`.row[data-id='${arguments[0]}'] .row-actions > button:not([hidden])`)];
                    const [main, ...others] = buttons;
                    const label = box(main.querySelector('span'));
                    return [label.left - box(main).left, box(main).right - label.right, label.top - box(main).top,
                      ...others.map((each, index) => box(each).left - box(buttons[index]).right), ...others.map((each) => box(each).width - 24)]""", each)
                self.assertGreaterEqual(min(beyond), 0, f"{each} at {width} pixels: {beyond}")

    def test_cancelling_and_removing_ask_first_unless_it_is_complete(self):
        identifier = self.held_set()
        self.until_held(identifier)
        self.browser.press(self.browser.button(identifier, "cancel"))
        self.assertIn("complete files stay", self.browser.one("dialog.question").text)
        self.browser.driver.switch_to.active_element.click()
        self.browser.gone("dialog.question")
        self.assertEqual(self.daemon.sets()[0]["state"], "syncing")
        self.browser.press(self.browser.button(identifier, "cancel"))
        self.browser.press("dialog.question [data-answer=yes]")
        self.until_part(identifier, "state", "Cancelled")
        self.browser.press(self.browser.button(identifier, "remove"))
        self.browser.gone(f'.row[data-id="{identifier}"]')
        self.browser.press(".toast [data-toast]")
        self.browser.one(f'.row[data-id="{identifier}"]')
        self.assertEqual([each["id"] for each in self.daemon.sets()], [identifier])
        self.browser.press(self.browser.button(identifier, "remove"))
        self.browser.gone(f'.row[data-id="{identifier}"]')
        self.browser.driver.refresh()
        self.browser.until(lambda: self.daemon.sets() == [], "the daemon is told before the page is gone")
        self.assertTrue((self.downloads_of("kept") / "a.bin").exists())

    def test_it_is_removed_by_another_client(self):
        identifier = self.held_set()
        self.until_held(identifier)
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.browser.one(PANEL)
        self.daemon.call("DELETE", f"/sets/{identifier}")
        self.browser.gone(PANEL)
        self.browser.one(".empty:not(.small)")

    def test_it_is_there_after_a_reload_and_a_restart_of_the_daemon(self):
        identifier = self.held_set()
        self.until_held(identifier)
        self.browser.driver.refresh()
        self.until_held(identifier)
        self.daemon.kill()
        self.browser.one(".lost")
        self.browser.until(lambda: not self.browser.one(self.browser.button(identifier, "pause")).is_enabled(), "nothing can be done")
        self.daemon.start()
        self.browser.gone(".lost")
        self.until_held(identifier)
        self.forgives = [r"ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|NetworkError|NS_ERROR"]


class AmongDownloads(SetTest):
    def test_it_stands_with_downloads_is_found_filtered_and_selected(self):
        identifier = self.held_set()
        paused = self.daemon.add(self.origin.file("10K", "alone.bin"), startsPaused=True)
        self.until_held(identifier)
        self.browser.row(paused)
        self.assertEqual(self.browser.names(), ["kept", "alone.bin"])
        self.browser.write("[name=search]", "list.jsonl")
        self.browser.until(lambda: self.browser.names() == ["kept"], "found by its source")
        self.browser.write("[name=search]", "")
        self.browser.press(".chip[data-filter=paused]")
        self.browser.until(lambda: self.browser.names() == ["alone.bin"], "by state")
        self.browser.press(".chip[data-filter=all]")
        self.browser.press(self.browser.in_row(identifier, ".row-check"))
        self.browser.press(self.browser.in_row(paused, ".row-check"))
        self.browser.press(".selection [data-action=pause]")
        self.until_part(identifier, "state", "Paused")
        self.browser.press(".selection [data-action=remove]")
        self.assertIn("kept", self.browser.one("dialog.question").text)
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until(lambda: "alone.bin" in self.browser.one("dialog.question").text, "the download is asked for by itself")
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.one(".empty:not(.small)")
        self.assertEqual((self.daemon.sets(), self.daemon.items()), ([], []))

    def test_all_are_paused_and_resumed_with_downloads(self):
        identifier = self.held_set()
        self.until_held(identifier)
        alone = self.held(name="alone.bin")
        self.browser.until_state(alone, "downloading")
        self.browser.press("[data-all=pause]")
        for each in (identifier, alone):
            self.browser.until_state(each, "paused")
        self.browser.press("[data-all=resume]")
        for each in (identifier, alone):
            self.browser.until_state(each, "downloading")

    def test_keys_and_menu_act_on_it_and_it_has_no_place_in_the_queue(self):
        identifier = self.held_set()
        self.until_held(identifier)
        first = self.daemon.add(self.origin.file("10K", "first.bin"), startsPaused=True)
        self.browser.row(first)
        row = self.browser.row(identifier)
        self.assertIn("Set of files", row.get_property("textContent"))
        row.send_keys("p")
        self.until_part(identifier, "state", "Paused")
        row.send_keys(Keys.ALT + Keys.ARROW_DOWN)
        self.assertEqual(self.browser.names(), ["kept", "first.bin"])
        self.assertEqual(self.browser.all(self.browser.in_row(identifier, ".row-grip:not([hidden])")), [])
        row.send_keys(Keys.ARROW_DOWN)
        self.browser.until(lambda: self.browser.driver.switch_to.active_element.get_attribute("data-id") == first, "the row below")
        self.browser.press(self.browser.button(identifier, "more"))
        items = [found.get_attribute("data-action") for found in self.browser.all("[role=menuitem]")]
        self.assertEqual(items, ["open", "copy", "copyPath", "resume", "pause", "cancel", "remove"])
        self.browser.press("[role=menuitem][data-action=resume]")
        self.browser.until_state(identifier, "downloading")
        row.send_keys(Keys.ENTER)
        self.assertEqual(self.browser.one(f"{PANEL} .detail-name").text, "kept")
        # The details of a download in between show none of the set.
        self.browser.press(self.browser.in_row(first, ".row-name"))
        self.browser.until(lambda: self.browser.text(f"{PANEL} .detail-name") == "first.bin", "the download")
        self.assertIn("About this file", self.browser.text(PANEL))
        self.browser.one(f"{PANEL} .part-events")


class AddingSets(SetTest):
    def choose(self, url):
        self.browser.write(".add-field", url)
        self.browser.press(".options-toggle")
        self.browser.press(".options [name=isSet]")

    def test_the_files_of_an_index_page_are_added_from_the_page(self):
        self.choose(self.index_of("a b.txt", "c.txt"))
        self.assertEqual(self.browser.one(".add-button").text, "Sync all files")
        self.assertFalse(self.browser.one(".options [name=user]").is_enabled())
        self.assertTrue(self.browser.one(".options [name=directory]").is_enabled())
        self.browser.press(".add-button")
        identifier = self.browser.until(lambda: next((each["id"] for each in self.daemon.sets()), None), "it is listed")
        self.until_part(identifier, "state", "Complete")
        self.assertEqual(self.part(identifier, "name"), "release-1.0")
        self.assertEqual(
            sorted(path.name for path in self.downloads_of("release-1.0").iterdir() if not path.name.startswith("ferry-")), ["a b.txt", "c.txt"])
        self.assertEqual(self.browser.one(".add-field").get_attribute("value"), "")
        self.assertEqual(self.browser.one(".add-button").text, "Download")
        self.browser.gone(".options")
        self.browser.press(".options-toggle")
        self.assertTrue(self.browser.one(".options [name=user]").is_enabled())

    def test_the_same_once_more_is_synced_again(self):
        url = self.index_of("a.txt")
        identifier = self.add(url, "again")
        self.until_part(identifier, "state", "Complete")
        told = lambda text: any(text in message.text for message in self.browser.all(".toast-text"))
        for name, sets, said in (("again", 1, "synced again"), ("other", 2, "was added"), ("other", 2, "synced again")):
            self.browser.until(lambda: not told("synced again"), "the last message has gone")
            self.choose(url)
            self.browser.write(".options [name=directory]", name)
            self.browser.press(".add-button")
            # A new one is seen in the list. What is spoken is replaced by the end of the sync; messages stay for some seconds.
            self.browser.until(lambda: len(self.daemon.sets()) == 2 if said == "was added" else told(said), said)
            self.browser.until(lambda: [each["state"] for each in self.daemon.sets()] == ["complete"] * sets, "all are complete")
            self.assertIn(identifier, [each["id"] for each in self.daemon.sets()])

    def test_a_new_one_that_fails_before_the_daemon_has_answered_was_added(self):
        self.browser.js("""
            const { fetch } = window;
            // The answer waits until the end of the set is known.
            window.fetch = async (path, options) => {
              const answer = await fetch(path, options);
              if (options?.method === 'POST' && String(path).endsWith('/sets')) {
                while (!document.querySelector('.row[data-kind=set][data-state=failed]')) await new Promise(requestAnimationFrame);
              }
              return answer;
            };""")
        self.choose(self.origin.file("1K", "none.txt", "status=404"))
        self.browser.write(".options [name=directory]", "early")
        self.browser.press(".add-button")
        self.browser.until(lambda: self.browser.one(".add-field").get_attribute("value") == "", "it is added")
        self.assertEqual([text for each in self.browser.all(".toast-text") if "synced again" in (text := each.text)], [])

    def test_more_than_one_link_is_no_set_and_a_place_outside_is_refused(self):
        self.forgives = [r"status of 400"]
        self.choose("http://localhost/a/ http://localhost/b/")
        self.browser.press(".add-button")
        self.assertIn("one link", self.browser.one(".add .field-error").text)
        self.browser.write(".add-field", "http://localhost/a/")
        self.browser.write(".options [name=directory]", "../outside")
        self.browser.press(".add-button")
        self.browser.one(".options .field-directory .field-error")
        self.assertEqual(self.daemon.sets(), [])


class HostileSets(SetTest):
    def test_names_and_reasons_of_a_list_are_text(self):
        directory = self.daemon.downloads / EVIL
        identifier = self.daemon.call("POST", "/sets", {
            "url": self.list_of({"a.bin": "", f"b{EVIL}.bin": "status=404", "../<b>c": ""}), "directory": str(directory)})["id"]
        self.until_part(identifier, "state", "Incomplete")
        told = self.daemon.sets()[0]
        self.assertEqual(self.browser.js("return document.querySelector(arguments[0]).textContent", self.browser.in_row(identifier, ".row-name")), EVIL)
        self.assertIn("onerror", told["incomplete"][0]["path"])
        self.assertIn(told["incomplete"][0]["path"], self.part(identifier, "reason"))
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        shown = lambda part: self.browser.js("return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)", f"{PANEL} {part}")
        self.browser.until(lambda: shown(".part-missing .mono") == [told["incomplete"][0]["path"]], "the path")
        self.assertEqual(shown(".part-problems li"), told["problems"])
        self.assertEqual(self.browser.js("return document.querySelectorAll('img:not([src=\"mark.svg\"]), .detail b').length"), 0)


class ChineseSets(SetTest):
    languages = "zh-CN,zh"

    def test_a_set_is_chinese(self):
        identifier = self.add(self.list_of({"a.bin": "", "b.bin": "status=404"}))
        self.until_part(identifier, "state", "不完整")
        self.assertEqual(self.part(identifier, "amount"), "1 / 2 个文件")
        self.assertIn("1 个文件缺失或不是最新：b.bin", self.part(identifier, "reason"))
        self.assertEqual(self.browser.text(self.browser.button(identifier, "resume")), "检查更新")
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.browser.until(lambda: "缺少的内容" in self.browser.text(f"{PANEL} .part-missing"), "the details")
        self.assertEqual(self.browser.text(f"{PANEL} .part-missing h3"), "缺少的内容")
        self.assertIn("服务器", self.browser.text(f"{PANEL} .part-missing li p"))
        self.serve("b.bin")
        self.browser.press(f"{PANEL} .detail-buttons [data-action=resume]")
        self.browser.until(lambda: self.browser.text(f"{PANEL} .detail-state") == "完整", "complete")
        self.assertRegex(self.browser.text(f"{PANEL} .detail-reason"), r"^截至 .*齐全")
