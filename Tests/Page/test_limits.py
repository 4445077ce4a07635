"""Limits and rules: seen and changed for all downloads, and for one."""

from selenium.webdriver.common.keys import Keys

from case import PageTest

LIMIT = "[name=total-limit]"


class Limits(PageTest):
    def settings(self):
        return self.daemon.call("GET", "/settings")

    def until_setting(self, name, value):
        self.browser.until(lambda: self.settings().get(name) == value, f"{name} is {value}")

    def test_the_limit_of_all_is_lowered_and_raised_while_one_runs(self):
        identifier = self.daemon.add(self.origin.file("6M", "limited.bin", "rate=2M"), maxConnections=1)
        self.browser.until_state(identifier, "downloading")
        self.browser.write(LIMIT, "100 KB/s" + Keys.ENTER)
        self.until_setting("rateLimit", 100_000)
        self.assertEqual(self.browser.one(LIMIT).get_attribute("value"), "100 KB/s")
        speed = lambda shown: shown["progress"]["bytesPerSecond"]
        self.until_api(identifier, lambda shown: 0 < speed(shown) < 400_000, "it is slow now")
        self.assertEqual(self.browser.state(identifier), "downloading")
        self.browser.write(LIMIT, "").send_keys(Keys.ENTER)
        self.until_setting("rateLimit", None)
        self.browser.until_state(identifier, "completed")

    def test_a_limit_that_is_none_is_said_and_changes_nothing(self):
        self.browser.write(LIMIT, "quick" + Keys.ENTER)
        self.browser.until(
            lambda: self.browser.one(LIMIT).get_attribute("aria-invalid") == "true", "it is marked")
        self.browser.write(LIMIT, "100" + Keys.ENTER)
        self.assertEqual(self.browser.one(LIMIT).get_attribute("aria-invalid"), "true", "nobody means bytes")
        self.assertEqual(self.browser.driver.switch_to.active_element.get_attribute("name"), "total-limit")
        self.assertIsNone(self.settings().get("rateLimit"))
        error = self.browser.one(".limits .field-error")
        self.assertIn("100 MB/s?", error.text)
        self.assertEqual(self.browser.one(LIMIT).get_attribute("aria-describedby"), error.get_attribute("id"))
        self.assertEqual(self.browser.all(".toast"), [], "it is said at its field")
        # None is written as 0, too.
        self.daemon.call("PATCH", "/settings", {"rateLimit": 300_000})
        self.browser.write(LIMIT, "0" + Keys.ENTER)
        self.until_setting("rateLimit", None)
        # And as `ferry set` has it, also for one download.
        self.daemon.call("PATCH", "/settings", {"rateLimit": 300_000})
        self.browser.write(LIMIT, "none" + Keys.ENTER)
        self.until_setting("rateLimit", None)
        identifier = self.held(name="limited.bin", startsPaused=True, rateLimit=200_000)
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.unfold()
        self.browser.write("dialog.detail [name=rateLimit]", "none" + Keys.ENTER)
        self.until_api(identifier, lambda shown: shown.get("rateLimit") is None, "it has no limit")
        self.browser.press("dialog.detail .detail-head .icon-button")
        # The number of downloads likewise.
        self.browser.write("[name=concurrent]", "0" + Keys.ENTER)
        self.browser.until(
            lambda: self.browser.one("[name=concurrent]").get_attribute("aria-invalid") == "true", "it is marked")
        self.assertEqual(self.settings()["maxConcurrentDownloads"], 3)

    def test_a_comma_of_a_fraction_is_read_and_one_of_thousands_is_not_guessed(self):
        self.browser.write(LIMIT, "1,5 MB/s" + Keys.ENTER)
        self.until_setting("rateLimit", 1_500_000)
        self.browser.write(LIMIT, "1,500 KB/s" + Keys.ENTER)
        self.browser.until(lambda: self.browser.one(LIMIT).get_attribute("aria-invalid") == "true", "it is marked")
        self.assertEqual(self.settings()["rateLimit"], 1_500_000)

    def test_a_limit_that_others_set_is_shown(self):
        self.daemon.call("PATCH", "/settings", {"rateLimit": 5_000_000, "maxConcurrentDownloads": 7})
        self.browser.until(lambda: self.browser.one(LIMIT).get_attribute("value") == "5 MB/s", "the limit")
        self.assertEqual(self.browser.one("[name=concurrent]").get_attribute("value"), "7")

    def test_one_more_at_a_time_lets_the_next_begin(self):
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        self.browser.until(lambda: self.browser.one("[name=concurrent]").get_attribute("value") == "1", "one at a time")
        first, second = self.held(name="a.bin"), self.held(name="b.bin")
        self.browser.until_state(first, "downloading")
        self.browser.until_state(second, "waiting")
        self.browser.press(".stepper [aria-label='One more at a time']")
        self.browser.until_state(second, "downloading")
        self.assertEqual(self.settings()["maxConcurrentDownloads"], 2)

    def test_settings_that_others_change_stay_when_the_dialog_is_saved(self):
        names = ("connectionsPerHost", "retriesFailedAfter", "allowsConstrained")
        self.addCleanup(self.daemon.call, "PATCH", "/settings", dict.fromkeys(names))
        self.browser.press(".settings-button")
        self.browser.write("dialog.settings [name=connectionsPerHost]", "5")
        self.daemon.call("PATCH", "/settings", {"allowsConstrained": False, "retriesFailedAfter": 600})
        box = self.browser.one("dialog.settings [name=allowsConstrained]")
        self.browser.until(lambda: not self.browser.js("return arguments[0].checked", box), "what others have changed")
        typed = self.browser.one("dialog.settings [name=connectionsPerHost]")
        self.assertEqual(typed.get_attribute("value"), "5", "what was typed stays")
        self.browser.press("dialog.settings [type=submit]")
        self.browser.gone("dialog.settings")
        self.assertEqual([self.settings().get(name) for name in names], [5, 600, False])

    def test_a_setting_that_nobody_has_changed_is_not_written(self):
        self.addCleanup(self.daemon.call, "PATCH", "/settings", {"connectionsPerHost": None})
        written = lambda: "".join(file.read_text() for file in self.daemon.folder.rglob("ferry.json"))
        self.assertNotIn("allowsConstrained", written())
        self.browser.press(".settings-button")
        self.browser.write("dialog.settings [name=connectionsPerHost]", "6")
        self.browser.press("dialog.settings [type=submit]")
        self.browser.gone("dialog.settings")
        self.assertIn("connectionsPerHost", written())
        self.assertNotIn("allowsConstrained", written())

    def test_a_time_that_is_no_whole_number_of_minutes_is_shown_as_it_is(self):
        self.addCleanup(self.daemon.call, "PATCH", "/settings", {"retriesFailedAfter": None, "connectionsPerHost": None})
        field = "dialog.settings [name=retriesFailedAfter]"
        for seconds, shown in ((20, "20 s"), (90, "90 s"), (1.5, "1.5 s"), (600, "10")):
            self.daemon.call("PATCH", "/settings", {"retriesFailedAfter": seconds})
            self.browser.press(".settings-button")
            self.browser.until(lambda: self.browser.one(field).get_attribute("value") == shown, shown)
            self.browser.write("dialog.settings [name=connectionsPerHost]", str(int(seconds)))
            self.browser.press("dialog.settings [type=submit]")
            self.browser.gone("dialog.settings")
            self.assertEqual(self.settings()["retriesFailedAfter"], seconds)
        for text, seconds in (("30 s", 30), ("2h", 7200), ("0.5", 30), ("5", 300), ("never", None)):
            self.browser.press(".settings-button")
            self.browser.write(field, text)
            self.browser.press("dialog.settings [type=submit]")
            self.browser.gone("dialog.settings")
            self.assertEqual(self.settings().get("retriesFailedAfter"), seconds, text)
        self.browser.press(".settings-button")
        for text in ("soon", "0.5 s"):
            self.browser.write(field, text)
            self.browser.press("dialog.settings [type=submit]")
            self.assertIn("30 s", self.browser.one("dialog.settings .field-error").text)

    def test_further_settings_are_changed_in_a_dialog(self):
        self.addCleanup(self.daemon.call, "PATCH", "/settings", {"connectionsPerHost": None, "retriesFailedAfter": None, "minFreeBytes": None, "proxy": None})
        self.daemon.call("PATCH", "/settings", {"proxy": "http://proxy.example:8080", "maxConcurrentDownloads": 4})
        self.browser.until(lambda: self.browser.one("[name=concurrent]").get_attribute("value") == "4", "the page knows")
        self.browser.press(".settings-button")
        self.browser.write("dialog.settings [name=connectionsPerHost]", "many")
        self.browser.press("dialog.settings [type=submit]")
        self.assertIn("whole number", self.browser.one("dialog.settings .field-error").text)
        self.browser.write("dialog.settings [name=connectionsPerHost]", "5")
        self.browser.write("dialog.settings [name=retriesFailedAfter]", "30")
        self.browser.write("dialog.settings [name=minFreeBytes]", "much")
        self.browser.press("dialog.settings [type=submit]")
        self.assertIn("5 GB", self.browser.one("dialog.settings .field-error").text)
        self.browser.write("dialog.settings [name=minFreeBytes]", "1.5 GB")
        self.assertIn(str(self.daemon.downloads), self.browser.one("dialog.settings").text)
        self.assertIn("proxy.example:8080", self.browser.one("dialog.settings").text)
        self.browser.press("dialog.settings [type=submit]")
        self.browser.gone("dialog.settings")
        settings = self.settings()
        self.assertEqual([settings[name] for name in ("connectionsPerHost", "retriesFailedAfter", "minFreeBytes")], [5, 1800, 1_500_000_000])
        self.browser.press(".settings-button")
        self.assertEqual(self.browser.one("dialog.settings [name=minFreeBytes]").get_attribute("value"), "1.5 GB")
        self.browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)

    def test_without_metered_networks_downloads_wait_and_say_so(self):
        self.browser.press("[role=switch]")
        self.until_setting("allowsMetered", False)
        self.assertEqual(self.browser.one("[role=switch]").get_attribute("aria-checked"), "false")
        self.browser.press("[name=assumption] option[value=metered]")
        self.until_setting("networkAssumption", "metered")
        self.browser.until(lambda: self.browser.one(".limit-network .network-word").text == "Metered", "the network is shown")
        # This machine is no network: it needs an address outside, which nothing is sent to (RFC 5737).
        outside = self.daemon.add("http://198.51.100.1/metered.bin")
        self.browser.until_state(outside, "waiting")
        self.assertEqual(self.browser.text(self.browser.in_row(outside, ".row-reason")), "the network is metered, and not allowed")
        self.browser.until(
            lambda: any("is metered" in event["texts"]["en"] for event in self.daemon.call("GET", f"/downloads/{outside}/events")["items"]),
            "its events say so, too")
        # It is downloaded in spite of that, if its user says so.
        self.browser.press(self.browser.button(outside, "anyway"))
        self.until_api(outside, lambda shown: shown.get("allowsMetered") is True, "it may")
        self.browser.until(
            lambda: "metered" not in self.browser.text(self.browser.in_row(outside, ".row-reason")), "it waits for that no more")
        here = self.daemon.add(self.origin.file("10K", "here.bin"))
        self.browser.until_state(here, "completed")
        self.daemon.call("POST", f"/downloads/{outside}/cancel")
        self.browser.until_state(outside, "cancelled")
        self.browser.press("[role=switch]")
        self.until_setting("allowsMetered", True)

    def test_the_limit_of_one_is_changed_in_its_details(self):
        identifier = self.held(name="own-limit.bin")
        self.browser.until_state(identifier, "downloading")
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.unfold()
        self.browser.write("dialog.detail [name=rateLimit]", "200 KB/s")
        self.browser.write("dialog.detail [name=maxConnections]", "3")
        self.browser.press("dialog.detail .change [type=submit]")
        shown = self.until_api(identifier, lambda shown: shown.get("rateLimit") == 200_000, "the limit")
        self.assertEqual(shown["maxConnections"], 3)
        self.browser.until(
            lambda: not self.browser.one("dialog.detail .change [type=submit]").is_enabled(), "nothing is left to save")
        self.browser.write("dialog.detail [name=rateLimit]", "")
        self.browser.press("dialog.detail .change [type=submit]")
        self.until_api(identifier, lambda shown: shown.get("rateLimit") is None, "no limit")
