"""The page comes in two scripts: the first shows the rows, the second what is seen at a request alone."""

from selenium.webdriver.common.keys import Keys

from case import PageTest
from servers import Gate

PANEL = "dialog.detail"
SECOND = "/later"


class Loading(PageTest):
    signs_in = False
    outcome = "held"

    def setUp(self):
        super().setUp()
        self.gate = Gate(self.daemon, SECOND, self.outcome)
        self.addCleanup(self.gate.close)
        # Nothing of the test runs on at the gate's address.
        self.addCleanup(self.browser.open, "about:blank")
        self.identifier = self.daemon.add(self.origin.file("10K", "first.bin"), startsPaused=True)

    def open_page(self):
        # No page, so that nothing is loaded yet.
        self.browser.open(f"{self.gate.page}mark.svg")
        self.browser.js("localStorage.clear()")
        self.browser.open(f"{self.gate.page}#code={self.daemon.code()}")
        self.browser.one(".row")

    def open_details(self):
        self.browser.press(self.browser.in_row(self.identifier, ".row-name"))

    def focused(self):
        return self.browser.js("return document.activeElement.ariaLabel ?? document.activeElement.name")

    def note(self):
        return self.browser.text(f"{PANEL} .waiting-note")


class Held(Loading):
    def test_rows_come_first_and_details_say_that_they_load(self):
        self.open_page()
        self.browser.until(lambda: self.gate.asked, "the second script is asked for by itself")
        self.open_details()
        self.assertEqual(self.browser.one(f"{PANEL} .detail-name").text, "first.bin")
        self.assertEqual(self.note(), "Loading…")
        self.assertEqual(self.focused(), "Close")
        self.gate.open()
        self.browser.until(lambda: self.browser.text(f"{PANEL} .detail-state") == "Paused", "the details")
        self.assertEqual(self.focused(), "Close")
        self.assertEqual(len(self.gate.asked), 1, "it is fetched once")

    def test_the_panel_is_closed_while_it_loads_and_details_do_not_take_the_focus(self):
        self.open_page()
        self.open_details()
        self.browser.one(f"{PANEL} .waiting-note")
        self.browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.browser.gone(PANEL)
        self.assertIn("first.bin", self.focused())
        self.open_details()
        self.browser.write(".search-field", "fir")
        self.gate.open()
        self.browser.until(lambda: self.browser.text(f"{PANEL} .detail-state") == "Paused", "the details")
        self.assertEqual(self.browser.js("return document.activeElement.name"), "search")

    def test_of_what_is_asked_for_meanwhile_the_last_opens(self):
        self.open_page()
        self.browser.press(".settings-button")
        self.browser.until(lambda: "Loading…" in self.browser.text(".toasts"), "it says so")
        self.browser.press(".help-button")
        self.gate.open()
        self.browser.one("dialog.keys")
        self.assertFalse(self.browser.all("dialog.settings"))

    def test_the_menu_of_a_row_opens_when_it_is_here(self):
        self.open_page()
        self.browser.press(".row [data-action=more]")
        self.browser.until(lambda: "Loading…" in self.browser.text(".toasts"), "it says so")
        self.gate.open()
        self.assertIn("Move to the bottom", self.browser.one("[role=menu]").text)

    def test_options_say_that_they_load_and_links_are_added_without_them(self):
        self.open_page()
        self.browser.press(".options-toggle")
        self.assertEqual(self.browser.one(".options .waiting-note").text, "Loading…")
        self.browser.write(".add-field", self.origin.file("10K", "second.bin") + Keys.ENTER)
        self.browser.until(lambda: self.daemon.named("second.bin"), "it is added")
        self.browser.press(".options-toggle")
        self.gate.open()
        self.browser.one(".options [name=directory]")

    def test_another_language_is_chosen_while_it_loads(self):
        self.open_page()
        self.open_details()
        self.browser.press("[name=language] option[value=zh]")
        self.browser.until(lambda: self.note() == "正在载入…", "it is said in Chinese")
        self.gate.open()
        self.browser.until(lambda: self.browser.text(f"{PANEL} .detail-state") == "已暂停", "the details are in Chinese")


class Broken(Loading):
    outcome = "broken"

    def setUp(self):
        super().setUp()
        self.forgives = [r"later", r"Failed to load"]

    def test_a_first_load_that_fails_is_said_and_tried_again(self):
        self.open_page()
        self.open_details()
        self.browser.until(lambda: "so this cannot be shown yet" in self.note(), "it says so")
        self.browser.until(lambda: len({path for path in self.gate.asked if "?" in path}) > 0, "it is tried again")
        self.gate.open()
        self.browser.until(lambda: self.browser.text(f"{PANEL} .detail-state") == "Paused", "the details")
        self.assertEqual(self.focused(), "Close")

    def test_it_is_tried_again_at_once_when_its_user_says_so(self):
        self.open_page()
        self.open_details()
        button = self.browser.one(f"{PANEL} .waiting-note button")
        self.assertEqual(button.text, "Try now")
        self.gate.open()
        self.browser.press(f"{PANEL} .waiting-note button")
        self.browser.until(lambda: self.browser.text(f"{PANEL} .detail-state") == "Paused", "the details")
        self.assertEqual(self.focused(), "Close")


class Gone(Loading):
    outcome = "gone"

    def test_a_daemon_of_another_version_has_no_such_script_and_the_page_is_loaded_again(self):
        self.forgives = [r"later", r"404"]
        self.open_page()
        self.open_details()
        self.browser.until(lambda: "This page is from another version" in self.note(), "it says so")
        self.gate.open()
        self.browser.press(f"{PANEL} .waiting-note button")
        # The open download is in the address.
        self.browser.until(lambda: self.browser.text(f"{PANEL} .detail-state") == "Paused", "the details")


class Early(PageTest):
    signs_in = False

    def test_rows_are_shown_before_the_stream_of_events_is_open(self):
        self.daemon.add(self.origin.file("10K", "first.bin"), startsPaused=True)
        gate = Gate(self.daemon, "/api/v1/events")
        self.addCleanup(gate.close)
        self.addCleanup(self.browser.open, "about:blank")
        self.browser.open(f"{gate.page}#code={self.daemon.code()}")
        self.browser.one(".row")
        self.daemon.add(self.origin.file("10K", "second.bin"), startsPaused=True)
        gate.open()
        self.browser.until(lambda: len(self.browser.all(".row")) == 2, "what came meanwhile")
