"""Nothing that was received is thrown away before its user has been asked."""

from selenium.webdriver.common.keys import Keys

from case import PageTest

PANEL = "dialog.detail"
UNNAMED = "rate=400K&etag=none&lastmod=none"


class Keeping(PageTest):
    def mismatched(self, name):
        """One whose file is whole and has another checksum than was asked for."""
        identifier = self.daemon.add(self.origin.file("200K", name), checksum=f"sha-256:{'0' * 64}")
        self.browser.until_state(identifier, "failed")
        return identifier

    def kinds(self, identifier):
        return [event["kind"] for event in self.daemon.call("GET", f"/downloads/{identifier}/events")["items"]]

    def test_without_a_version_of_the_file_neither_pause_nor_resume_loses_bytes_unasked(self):
        self.assertLosesNothingUnasked(UNNAMED)

    def test_of_a_server_that_names_its_length_alone_neither_does(self):
        self.assertLosesNothingUnasked(UNNAMED + "&type=none&ranges=unannounced")

    def assertLosesNothingUnasked(self, query):
        identifier = self.held("40M", "unnamed.bin", query)
        # A checkpoint must have claimed something: else there is nothing to go on from.
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 1_200_000, "some bytes")
        self.browser.press(self.browser.button(identifier, "pause"))
        self.assertIn("starts from zero", self.browser.one("dialog.question").text)
        self.browser.driver.switch_to.active_element.click()
        self.browser.gone("dialog.question")
        self.assertEqual(self.daemon.show(identifier)["state"], "downloading")
        self.browser.press(self.browser.button(identifier, "pause"))
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until_state(identifier, "paused")
        self.browser.until(
            lambda: "from zero" in self.browser.text(self.browser.in_row(identifier, ".row-reason")), "the row is marked")
        self.browser.press(self.browser.button(identifier, "resume"))
        question = self.browser.one("dialog.question")
        self.assertIn("compare samples", question.text)
        self.browser.one("dialog.question [data-answer=other]")
        self.browser.driver.switch_to.active_element.click()
        self.browser.gone("dialog.question")
        self.assertEqual(self.daemon.show(identifier)["state"], "paused")
        self.browser.press("[data-all=resume]")
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until(lambda: "resumed" in self.kinds(identifier), "it goes on from what is here")
        self.assertNotIn("restarted", self.kinds(identifier))
        # Once samples may be compared, nothing is lost, and nothing is asked.
        self.browser.press(self.browser.button(identifier, "pause"))
        self.browser.until_state(identifier, "paused")
        self.assertEqual(self.browser.all("dialog.question"), [])

    def test_what_leaves_the_list_during_the_question_keeps_no_other_from_going_on(self):
        made = [self.held("40M", f"unnamed-{number}.bin", UNNAMED) for number in range(2)]
        for identifier in made:
            self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 1_200_000, "some bytes")
        self.daemon.call("POST", "/downloads/pause")
        for identifier in made:
            self.browser.until_state(identifier, "paused")
        self.browser.press("[data-all=resume]")
        self.browser.one("dialog.question")
        self.daemon.call("DELETE", f"/downloads/{made[0]}")
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until_state(made[1], "downloading")
        self.assertEqual(self.browser.all(".toast-warn"), [])

    def test_of_a_server_without_ranges_a_pause_tells_its_cost_and_the_row_that_bytes_are_repeated(self):
        identifier = self.held("40M", "whole.bin", "rate=400K&ranges=off")
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 1_200_000, "some bytes")
        self.browser.press(self.browser.button(identifier, "pause"))
        self.assertIn("reads it again from the start", self.browser.one("dialog.question").text)
        self.browser.driver.switch_to.active_element.click()
        self.browser.gone("dialog.question")
        self.assertEqual(self.daemon.show(identifier)["state"], "downloading")
        self.browser.press(self.browser.button(identifier, "pause"))
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until_state(identifier, "paused")
        self.browser.press(self.browser.button(identifier, "resume"))
        self.browser.until(
            lambda: "repeats what is here" in self.browser.text(self.browser.in_row(identifier, ".row-reason")), "why it stands still")

    def test_pausing_all_asks_about_all(self):
        unnamed = self.held("40M", "unnamed.bin", UNNAMED)
        named = self.held(name="named.bin")
        self.until_api(unnamed, lambda shown: shown["progress"]["completedBytes"] > 100_000, "some bytes")
        self.browser.until_state(named, "downloading")
        self.browser.press("[data-all=pause]")
        self.assertEqual(self.browser.one("dialog.question h2").text, "Pause all downloads?")
        self.assertIn("“unnamed.bin”", self.browser.one("dialog.question").text)
        self.assertEqual(self.browser.driver.switch_to.active_element.text, "Pause none")
        self.browser.driver.switch_to.active_element.click()
        self.browser.gone("dialog.question")
        self.assertEqual([self.daemon.show(each)["state"] for each in (unnamed, named)], ["downloading"] * 2)
        self.browser.press("[data-all=pause]")
        self.browser.press("dialog.question [data-answer=yes]")
        for each in (unnamed, named):
            self.browser.until_state(each, "paused")

    def test_a_change_that_begins_a_new_run_loses_no_bytes_unasked(self):
        identifier = self.held("40M", "unproven.bin", UNNAMED)
        # A checkpoint must have claimed something: else there is nothing to go on from.
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 1_200_000, "some bytes")
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.unfold()
        # What changes while it runs is saved as it is.
        self.browser.write(f"{PANEL} [name=label]", "Tried")
        self.browser.press(f"{PANEL} .change [type=submit]")
        self.until_api(identifier, lambda shown: shown.get("label") == "Tried", "its label")
        before = self.kinds(identifier)
        self.browser.press(f"{PANEL} .section summary")
        self.browser.write(f"{PANEL} [name=userAgent]", "Tried/2")
        self.browser.press(f"{PANEL} .change [type=submit]")
        self.assertIn("starts from zero", self.browser.one("dialog.question").text)
        self.browser.one("dialog.question [data-answer=other]")
        self.browser.driver.switch_to.active_element.click()
        self.browser.gone("dialog.question")
        self.assertEqual(self.kinds(identifier), before, "nothing was changed")
        self.assertEqual(self.browser.one(f"{PANEL} [name=userAgent]").get_attribute("value"), "Tried/2", "it can be saved yet")
        self.browser.press(f"{PANEL} .change [type=submit]")
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until(lambda: "resumed" in self.kinds(identifier), "it goes on from what is here")
        self.assertNotIn("restarted", self.kinds(identifier))
        # Once samples may be compared, nothing is lost, and nothing is asked.
        self.browser.until_state(identifier, "downloading")
        self.browser.write(f"{PANEL} [name=userAgent]", "Tried/3")
        self.browser.press(f"{PANEL} .change [type=submit]")
        self.browser.until(lambda: self.browser.one(f"{PANEL} [name=userAgent]").get_attribute("value") == "", "it is saved")
        self.assertEqual(self.browser.all("dialog.question"), [])

    def test_a_setting_that_makes_one_wait_loses_no_bytes_unasked(self):
        first = self.held(name="first.bin")
        self.browser.until_state(first, "downloading")
        last = self.held("40M", "unnamed.bin", UNNAMED)
        self.until_api(last, lambda shown: shown["progress"]["completedBytes"] > 100_000, "some bytes")
        settings = lambda: self.daemon.call("GET", "/settings")
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 2})
        count = "[name=concurrent]"
        self.browser.until(lambda: self.browser.one(count).get_attribute("value") == "2", "two at a time")
        for change in (
            lambda: self.browser.press(".stepper [aria-label='One fewer at a time']"),
            lambda: self.browser.write(count, "1" + Keys.ENTER),
        ):
            change()
            self.assertIn("unnamed.bin", self.browser.one("dialog.question").text)
            self.browser.driver.switch_to.active_element.click()
            self.browser.gone("dialog.question")
            self.assertEqual(self.browser.one(count).get_attribute("value"), "2", "as it was")
            self.assertEqual(settings()["maxConcurrentDownloads"], 2)
        # What comes from this computer does not wait for the network: there is nothing to be asked.
        self.browser.press("[name=assumption] option[value=metered]")
        self.browser.until(lambda: self.browser.one(".limit-network .network-word").text == "Metered", "that alone stops nothing")
        self.browser.press(".limits [role=switch]")
        self.browser.until(lambda: not settings()["allowsMetered"], "it is changed")
        self.assertEqual(self.daemon.show(last)["state"], "downloading")
        links = ["http://127.0.0.1:80/a", "http://a.localhost/", "http://[::1]/a", "http://198.51.100.1/a", "http://localhost.example/", "http://127.0.0.1.example/"]
        self.assertEqual(self.browser.module("links", "arguments[0].map(it.isLoopback)", links), [True] * 3 + [False] * 3)
        self.browser.press(".stepper [aria-label='One fewer at a time']")
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until_state(last, "waiting")
        self.assertEqual(self.browser.state(first), "downloading")

    def test_resuming_all_leaves_a_whole_file_with_a_wrong_checksum(self):
        whole = self.mismatched("whole.bin")
        before = self.kinds(whole)
        rests = self.daemon.add(self.origin.file("10K", "rests.bin"), startsPaused=True)
        self.browser.until_state(rests, "paused")
        self.browser.press("[data-all=resume]")
        self.browser.until_state(rests, "completed")
        self.browser.until(
            lambda: "rests.bin" in self.browser.js("return document.querySelector('[data-live=polite]').textContent"), "it is told")
        self.assertEqual(self.kinds(whole), before, "it did not begin anew")
        self.assertEqual((self.daemon.downloads / "whole.bin.part").read_bytes(), self.origin.bytes(200_000))

    def test_among_others_that_failed_a_whole_file_is_not_thrown_away_unasked(self):
        whole = self.mismatched("whole.bin")
        before = self.kinds(whole)
        failed = self.daemon.add(self.origin.file("10K", "later.bin", "status=404&times=1"))
        self.browser.until_state(failed, "failed")

        def retry():
            self.browser.press(".bar-tools [aria-haspopup=menu]")
            self.browser.js("[...document.querySelectorAll('.menu-item')].find(({ textContent }) => textContent === 'Try failed ones again').click()")
            self.assertIn("whole.bin", self.browser.one("dialog.question").text)

        retry()
        self.assertIn("200.0 KB will be deleted", self.browser.one("dialog.question").text)
        self.browser.driver.switch_to.active_element.click()
        self.browser.gone("dialog.question")
        self.assertEqual(self.browser.state(failed), "failed")
        retry()
        self.browser.press("dialog.question [data-answer=other]")
        self.browser.until_state(failed, "completed")
        self.assertEqual(self.kinds(whole), before, "it did not begin anew")
