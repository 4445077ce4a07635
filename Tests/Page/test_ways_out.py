"""What a download that stopped, or found a file in its place, says and offers."""

import hashlib
import urllib.request

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from case import PageTest

PANEL = "dialog.detail"
NOTICE = f"{PANEL} .change .notice"
SUBMIT = f"{PANEL} .change [type=submit]"


class WaysOut(PageTest):
    def open(self, identifier):
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.browser.one(PANEL)

    def add(self, name, state, query="", **options):
        identifier = self.daemon.add(self.origin.file("200K", name, query), **options)
        self.browser.until_state(identifier, state)
        return identifier

    def keeps_focus(self):
        """The form is gone, and the focus is still in the panel."""
        self.browser.gone(f"{PANEL} .need")
        self.browser.until(
            lambda: self.browser.js("return document.activeElement.closest('dialog.detail') !== null"),
            lambda: f"the focus is in the panel, not on {self.browser.js('return document.activeElement.outerHTML.slice(0, 60)')}")

    def bytes_of(self, name):
        return (self.daemon.downloads / name).read_bytes()

    def said(self):
        return self.browser.js("return document.querySelector('[data-live=polite]').textContent")


class Digests(WaysOut):
    def test_a_file_that_is_kept_has_no_checksum_and_the_proof_that_it_has(self):
        identifier = self.add("kept.bin", "failed", checksum=f"sha-256:{'0' * 64}")
        self.open(identifier)
        self.browser.press(f"{PANEL} [data-action=keepFile]")
        self.browser.one("dialog.question")
        self.assertEqual(self.browser.driver.switch_to.active_element.text, "Do nothing")
        self.browser.driver.switch_to.active_element.click()
        self.browser.gone("dialog.question")
        self.assertEqual(self.daemon.show(identifier)["state"], "failed")
        self.browser.press(f"{PANEL} [data-action=keepFile]")
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until_state(identifier, "completed")
        self.keeps_focus()
        shown = self.daemon.show(identifier)
        self.assertEqual((shown["proof"], "checksum" in shown), ("single", False))
        self.browser.until(lambda: "Single" in self.browser.text(f"{PANEL} .facts"), "its proof")
        self.assertNotIn("the whole file matched it", self.browser.text(f"{PANEL} .facts"))
        self.assertIn("Kept although its checksum differs", self.browser.text(f"{PANEL} .events"))
        self.assertEqual(self.bytes_of("kept.bin"), self.origin.bytes(200_000))

    def test_a_server_whose_own_digest_is_wrong_is_named_and_its_bytes_can_be_taken(self):
        identifier = self.add("other.bin", "failed", "baddigest")
        self.open(identifier)
        notice = self.browser.one(NOTICE).text
        self.assertIn("server’s own digest", notice)
        self.assertNotIn("complete", notice)
        self.assertEqual(self.browser.one(f"{PANEL} [data-action=keepFile]").text, "Take the bytes as they are")
        self.browser.press(f"{PANEL} [data-action=keepFile]")
        self.assertIn("nothing shows that they are right", self.browser.one("dialog.question").text)
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until_state(identifier, "completed")
        self.keeps_focus()
        self.assertNotEqual(self.daemon.show(identifier)["proof"], "digest")
        self.assertEqual(self.bytes_of("other.bin"), self.origin.bytes(200_000))

    def test_with_the_checksum_of_the_file_such_a_server_is_not_believed(self):
        identifier = self.add("checked.bin", "failed", "baddigest")
        self.open(identifier)
        digest = hashlib.sha256(self.origin.bytes(200_000)).hexdigest()
        self.browser.write(f"{PANEL} [name=checksum]", f"sha-256:{digest}" + Keys.ENTER)
        self.browser.until_state(identifier, "completed")
        self.assertEqual(self.daemon.show(identifier)["proof"], "digest")

    def test_none_is_accepted_as_a_checksum(self):
        failed = self.add("named.bin", "failed", "baddigest")
        self.open(failed)
        self.browser.write(f"{PANEL} [name=checksum]", "none" + Keys.ENTER)
        self.browser.until_state(failed, "completed")
        self.browser.press(f"{PANEL} .detail-head button")
        self.browser.write(".add-field", self.origin.file("200K", "added.bin", "baddigest"))
        self.browser.press(".options-toggle")
        self.browser.write(".options [name=checksum]", "none")
        self.browser.press(".add-button")
        added = self.browser.until(lambda: self.daemon.named("added.bin"), "it is added")["id"]
        self.browser.until_state(added, "completed")
        self.assertEqual(self.bytes_of("added.bin"), self.origin.bytes(200_000))
        line = self.origin.file("200K", "line.bin", "baddigest")
        self.browser.js("document.querySelector('.add-field').value = arguments[0]", f"{line}\n  checksum=none")
        self.browser.press(".add-button")
        listed = self.browser.until(lambda: self.daemon.named("line.bin"), "it is added")["id"]
        self.browser.until_state(listed, "completed")


class FilesInPlace(WaysOut):
    """A file has the name that a download would give to its own."""

    def put(self, name):
        (self.daemon.downloads / name).write_bytes(b"mine")

    def test_a_file_that_is_kept_is_not_told_as_downloaded(self):
        self.put("mine.bin")
        identifier = self.add("mine.bin", "completed", onConflict="skip")
        self.assertEqual(self.browser.text(self.browser.in_row(identifier, ".row-state")), "Already there")
        self.assertEqual(self.browser.text(self.browser.in_row(identifier, ".row-percent")), "")
        self.assertIn("nothing was fetched", self.browser.text(self.browser.in_row(identifier, ".row-reason")))
        self.browser.until(lambda: "nothing was fetched" in self.said(), "it is announced")
        self.open(identifier)
        self.assertEqual(self.browser.text(f"{PANEL} .detail-state"), "Already there")
        self.assertEqual(self.browser.text(f"{PANEL} .detail-percent"), "")
        figures = self.browser.one(f"{PANEL} .figures-grid").text
        self.assertIn("Size", figures)
        self.assertNotIn("Downloaded", figures)
        self.assertEqual(self.bytes_of("mine.bin"), b"mine")

    def test_a_file_that_is_kept_is_not_offered_for_deletion(self):
        self.put("stays.bin")
        kept = self.add("stays.bin", "completed", onConflict="skip")
        own = self.add("own.bin", "completed")
        offered = lambda: [found.get_attribute("data-action") for found in self.browser.all("[role=menuitem]")]
        self.browser.press(self.browser.button(kept, "more"))
        self.browser.one("[role=menu]")
        self.assertNotIn("removeFile", offered())
        ActionChains(self.browser.driver).send_keys(Keys.ESCAPE).perform()
        self.open(kept)
        self.assertEqual(self.browser.all(f"{PANEL} .detail-buttons [data-action=removeFile]"), [])
        self.browser.press(f"{PANEL} .detail-head button")
        # Of several it is left out: one file is deleted, and one is said to be.
        for identifier in (kept, own):
            self.browser.press(self.browser.in_row(identifier, ".row-check"))
        self.browser.press(".selection [aria-haspopup=menu]")
        self.browser.press("[role=menuitem][data-action=removeFile]")
        self.assertIn("own.bin", self.browser.one("dialog.question").text)
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.gone(f'.row[data-id="{own}"]')
        self.assertEqual([path.name for path in self.daemon.downloads.iterdir()], ["stays.bin"])
        self.assertEqual(self.daemon.show(kept)["state"], "completed")

    def test_restarting_says_what_becomes_of_a_file_that_was_kept(self):
        self.put("again.bin")
        identifier = self.add("again.bin", "completed", onConflict="skip")
        self.browser.press(self.browser.button(identifier, "restart"))
        question = self.browser.one("dialog.question").text
        self.assertIn("nothing is fetched again", question)
        self.assertNotIn("replaced", question)
        self.browser.press("dialog.question [data-answer=yes]")
        events = lambda: [event["kind"] for event in self.daemon.call("GET", f"/downloads/{identifier}/events")["items"]]
        self.browser.until(lambda: events().count("completed") == 2, "it ended once more")
        self.assertEqual(self.bytes_of("again.bin"), b"mine")

    def test_a_file_that_is_current_already_is_fetched_beside_it(self):
        self.daemon.call("DELETE", f"/downloads/{self.add('current.bin', 'completed')}")
        identifier = self.add("current.bin", "completed")
        self.assertEqual(self.browser.text(self.browser.in_row(identifier, ".row-state")), "Already there")
        self.browser.press(self.browser.button(identifier, "restart"))
        self.assertIn("under another name", self.browser.one("dialog.question").text)
        self.browser.press("dialog.question [data-answer=yes]")
        self.until_api(identifier, lambda shown: shown["name"] == "current (1).bin" and shown["state"] == "completed", "a second file")
        self.assertEqual(self.bytes_of("current.bin"), self.bytes_of("current (1).bin"))

    def test_one_that_stopped_for_a_name_in_use_goes_on_by_another_rule(self):
        self.put("taken.bin")
        identifier = self.add("taken.bin", "failed", onConflict="fail")
        self.open(identifier)
        self.assertNotIn("later", self.browser.one(f"{PANEL} .detail-reason").text)
        self.assertIn("there already", self.browser.one(NOTICE).text)
        self.assertEqual(self.browser.one(f"{PANEL} [name=onConflict]").get_attribute("value"), "fail")
        self.assertTrue(self.browser.js("return document.querySelector('dialog.detail .need .need-fields').firstChild.querySelector('[name=onConflict]') !== null"))
        self.browser.press(f"{PANEL} [name=onConflict] option[value='']")
        self.assertEqual(self.browser.one(SUBMIT).text, "Use this rule")
        self.browser.press(SUBMIT)
        self.browser.until_state(identifier, "completed")
        self.assertEqual(self.bytes_of("taken.bin"), b"mine")
        self.assertEqual(self.bytes_of("taken (1).bin"), self.origin.bytes(200_000))

    def test_the_file_in_its_place_is_replaced_by_that_rule(self):
        self.put("old.bin")
        identifier = self.add("old.bin", "failed", onConflict="fail")
        self.open(identifier)
        self.browser.press(f"{PANEL} [name=onConflict] option[value=overwrite]")
        self.browser.press(SUBMIT)
        self.browser.until_state(identifier, "completed")
        self.assertEqual(self.bytes_of("old.bin"), self.origin.bytes(200_000))


class Answers(WaysOut):
    def test_a_wrong_password_of_the_options_is_said_to_be_refused(self):
        identifier = self.add("members.bin", "waiting", "auth=basic:me:secret-word", user="me", password="wrong")
        self.browser.until(
            lambda: self.browser.text(self.browser.in_row(identifier, ".row-reason")) == "the server refused the user name or password",
            "the row says so")
        self.open(identifier)
        self.browser.until(lambda: "refused" in self.browser.text(NOTICE), "the details too")
        asks = self.add("unknown.bin", "waiting", "auth=basic:me:secret-word")
        self.browser.until(
            lambda: self.browser.text(self.browser.in_row(asks, ".row-reason")) == "the server asks for a user name and password",
            "who gave none was not refused")

    def test_a_web_page_is_tried_again_as_it_is(self):
        for place, name in enumerate(("details.iso", "menu.iso")):
            with self.subTest(name):
                identifier = self.add(name, "waiting", "html&times=1")
                if place == 0:
                    self.open(identifier)
                    self.assertEqual(self.browser.one(SUBMIT).text, "Try again")
                    self.browser.press(SUBMIT)
                else:
                    self.browser.press(f"{PANEL} .detail-head button")
                    self.browser.press(self.browser.button(identifier, "more"))
                    self.assertEqual(self.browser.one("[role=menuitem][data-action=resume]").text, "Try now")
                    self.browser.press("[role=menuitem][data-action=resume]")
                self.browser.until_state(identifier, "completed")

    def test_a_refused_link_is_tried_again_as_it_is(self):
        identifier = self.add("gone.bin", "failed", "status=404&times=1")
        self.open(identifier)
        self.browser.press(SUBMIT)
        self.browser.until_state(identifier, "completed")

    def set_scene(self, target):
        urllib.request.urlopen(f"{self.origin.base}/set/expired.bin?{target}").close()

    def test_an_expired_link_is_tried_again_as_it_is(self):
        good = "/file/40M/expired.bin?rate=400K"
        self.set_scene(good)
        identifier = self.daemon.add(f"{self.origin.base}/scene/expired.bin", maxConnections=1)
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 0, "some bytes")
        self.daemon.call("POST", f"/downloads/{identifier}/pause")
        self.browser.until_state(identifier, "paused")
        self.set_scene("/file/40M/expired.bin?status=410")
        self.daemon.call("POST", f"/downloads/{identifier}/resume")
        self.until_api(identifier, lambda shown: shown.get("waitReason") == "freshLink", "its link is dead")
        self.browser.until_state(identifier, "waiting")
        self.set_scene(good)
        self.open(identifier)
        self.assertEqual(self.browser.one(SUBMIT).text, "Try again")
        self.browser.one(f"{PANEL} [name=urls]").send_keys("x")
        self.assertEqual(self.browser.one(SUBMIT).text, "Use this link")
        self.browser.write(f"{PANEL} [name=urls]", f"{self.origin.base}/scene/expired.bin")
        self.browser.press(SUBMIT)
        self.browser.until_state(identifier, "downloading")


class Hands(WaysOut):
    def press_key(self, *keys):
        ActionChains(self.browser.driver).send_keys(*keys).perform()

    def test_a_slash_searches_while_some_are_selected(self):
        identifier = self.add("picked.bin", "paused", startsPaused=True)
        self.browser.row(identifier).send_keys(Keys.SPACE)
        self.assertEqual(self.browser.one(".selection-count").text, "1 selected")
        self.press_key("/")
        self.assertEqual(self.browser.driver.switch_to.active_element.get_attribute("name"), "search")
        self.press_key("pc")
        self.assertEqual(self.browser.one("[name=search]").get_attribute("value"), "pc")
        self.assertEqual(self.daemon.show(identifier)["state"], "paused")

    def test_p_pauses_one_that_waits(self):
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        self.browser.until_state(self.held(name="runs.bin"), "downloading")
        waits = self.held(name="waits.bin")
        self.browser.until_state(waits, "waiting")
        self.browser.row(waits).send_keys("p")
        self.browser.until_state(waits, "paused")
        self.assertEqual(self.daemon.show(waits)["state"], "paused")
        self.browser.row(waits).send_keys("p")
        self.browser.until_state(waits, "waiting")

    def test_undo_stays_while_it_has_the_focus_and_gives_it_back_to_the_list(self):
        identifier = self.add("undone.bin", "completed")
        others = self.add("other.bin", "completed")
        self.browser.js("""
            const [set, clear] = [setTimeout, clearTimeout];
            window.waits = new Set();
            window.setTimeout = (run, time) => {
              const timer = set(run, time === 8000 ? 800_000 : time);
              if (time === 8000) window.waits.add(timer);
              return timer;
            };
            window.clearTimeout = (timer) => { window.waits.delete(timer); clear(timer); };""")
        waits = lambda: self.browser.js("return window.waits.size")
        undo = ".toast [data-toast=action]"
        self.browser.js("arguments[0].focus()", self.browser.row(identifier))
        self.press_key(Keys.DELETE)
        self.browser.one(undo)
        self.assertEqual(waits(), 2, "the message and the removal")
        self.browser.js("document.querySelector(arguments[0]).focus()", undo)
        self.assertEqual(waits(), 0, "both are held")
        self.browser.js("document.activeElement.blur()")
        self.assertEqual(waits(), 2, "both go on")
        self.browser.js("document.querySelector(arguments[0]).focus()", undo)
        self.press_key(Keys.ENTER)
        self.assertEqual(waits(), 0, "neither is left")
        self.assertEqual(self.browser.js("return document.activeElement.closest('.row') !== null"), True)
        self.browser.row(identifier)
        self.assertEqual({item["id"] for item in self.daemon.items()}, {identifier, others})

    def test_files_are_not_said_to_stay_where_data_was_deleted(self):
        identifier = self.held(name="half.bin")
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 0, "some bytes")
        self.daemon.call("POST", f"/downloads/{identifier}/pause")
        self.browser.until_state(identifier, "paused")
        self.browser.row(identifier).send_keys(Keys.DELETE)
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.gone(f'.row[data-id="{identifier}"]')
        self.browser.until(lambda: self.said() == "half.bin is off the list", "what was done")

    def test_the_field_for_links_has_no_scrollbar_after_many(self):
        links = [self.origin.file("10K", f"many-{number}.bin") for number in range(12)]
        field = lambda expression: self.browser.js(f"const field = document.querySelector('.add-field'); return {expression}")
        self.browser.js("""
            const field = document.querySelector('.add-field');
            field.value = arguments[0];
            field.dispatchEvent(new Event('input'))""", "\n".join(links))
        self.assertEqual(field("getComputedStyle(field).overflowY"), "auto", "more than it can show")
        self.browser.press(".add-button")
        self.browser.until(lambda: field("field.value") == "", "they are added")
        self.assertEqual(field("getComputedStyle(field).overflowY"), "hidden")
        self.assertLessEqual(field("field.scrollHeight - field.clientHeight"), 0)
