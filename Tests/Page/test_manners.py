"""What is small and noticed all day: where things stand, what they are called, what is not said twice."""

import urllib.request

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from case import PageTest

PANEL = "dialog.detail"


class Rows(PageTest):
    def box(self, selector):
        return self.browser.js("""
            const { left, right, top, bottom } = document.querySelector(arguments[0]).getBoundingClientRect();
            return { left, right, top, bottom }""", selector)

    def test_bars_end_in_line_and_buttons_stand_side_by_side(self):
        running = self.held(name="runs.bin")
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        waiting = self.daemon.add(self.origin.file("10K", "waits.bin"))
        paused = self.daemon.add(self.origin.file("10K", "paused.bin"), startsPaused=True)
        self.browser.until_state(running, "downloading")
        self.browser.until_state(waiting, "waiting")
        for width in (1280, 1000, 800):
            self.browser.set_size(width, 800)
            self.browser.until(lambda: len(self.browser.names()) == 3, "all rows")
            ends = {round(self.box(self.browser.in_row(each, ".bar"))["right"]) for each in (running, waiting, paused)}
            self.assertEqual(len(ends), 1, width)
            for each in (running, waiting, paused):
                gaps = self.browser.js("""
                    const buttons = [...document.querySelectorAll(`.row[data-id='${arguments[0]}'] .row-actions > :not([hidden])`)].map((each) => each.getBoundingClientRect());
                    return buttons.slice(1).map((each, index) => each.left - buttons[index].right)""", each)
                self.assertLess(max(gaps), 16, width)

    def test_an_ordinary_wait_has_no_warning_in_its_colour(self):
        needs = self.daemon.add(self.origin.file("10K", "members.bin", "auth=basic:me:secret-word"))
        self.until_api(needs, lambda shown: shown.get("waitReason") == "credentials", "it asks")
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        self.browser.until_state(self.held(), "downloading")
        waits = self.daemon.add(self.origin.file("10K", "waits.bin"))
        self.browser.until_state(waits, "waiting")
        self.browser.until(lambda: self.browser.js("return document.querySelector(`.row[data-id='${arguments[0]}']`)?.dataset.needs", needs), "it asks")
        colour = lambda each: self.browser.js("return getComputedStyle(document.querySelector(arguments[0])).color", self.browser.in_row(each, ".row-reason"))
        self.assertNotEqual(colour(waits), colour(needs))

    def test_the_name_of_a_row_is_short(self):
        identifier = self.daemon.add(self.origin.file("10K", "named.bin"), startsPaused=True)
        self.assertEqual(self.browser.row(identifier).get_attribute("aria-label"), "named.bin, Paused")

    def test_the_skip_link_leads_to_the_row_that_the_keyboard_is_on(self):
        identifier = self.daemon.add(self.origin.file("10K", "skipped.bin"), startsPaused=True)
        self.browser.row(identifier)
        self.browser.js("document.querySelector('.skip').focus()")
        ActionChains(self.browser.driver).send_keys(Keys.ENTER).perform()
        self.assertEqual(self.browser.js("return document.activeElement.dataset.id"), identifier)

    def test_pausing_all_leaves_those_that_need_their_user_as_they_are(self):
        needs = self.daemon.add(self.origin.file("10K", "members.bin", "auth=basic:me:secret-word"))
        self.until_api(needs, lambda shown: shown.get("waitReason") == "credentials", "it asks")
        running = self.held()
        self.browser.until_state(running, "downloading")
        self.browser.press("[data-all=pause]")
        self.browser.until_state(running, "paused")
        self.assertEqual(self.daemon.show(needs)["waitReason"], "credentials")

    def test_a_size_that_nobody_knows_is_left_out(self):
        identifier = self.held("40M", "endless.bin", "rate=400K&chunked")
        self.browser.until_state(identifier, "downloading")
        self.browser.until(lambda: "B/s" in self.browser.text(self.browser.in_row(identifier, ".row-speed")), "it runs")
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.browser.until(lambda: "Connections" in self.browser.text(f"{PANEL} .figures-grid"), "its figures")
        self.assertNotRegex(self.browser.one(PANEL).text, r"--|/ \?")
        self.assertFalse(self.browser.js("return document.querySelector('dialog.detail .part-map').checkVisibility()"))
        self.daemon.call("POST", f"/downloads/{identifier}/cancel")

    def test_what_had_no_file_leaves_none(self):
        identifier = self.daemon.add(self.origin.file("10K", "refused.bin", "status=403"))
        self.browser.until_state(identifier, "failed")
        self.browser.press(self.browser.button(identifier, "remove"))
        # Beside the message of its failure.
        self.browser.until(
            lambda: "refused.bin is off the list" in [found.text for found in self.browser.all(".toast p")], "it says no more")

    def test_the_end_of_a_long_name_is_measured_in_columns(self):
        made = [self.daemon.add(self.origin.file("10K", "x.bin"), name=name, startsPaused=True) for name in (
            "a name that is quite a lot longer than its row and ends.tar.gz", "很长的文件名很长的文件名很长的文件名很长的文件名.zip")]
        tails = [self.browser.text(self.browser.in_row(each, ".name-tail")) for each in made if self.browser.row(each)]
        self.assertEqual(tails, ["and ends.tar.gz"[-14:].lstrip(), "很长的文件名.zip"[-9:]])


class Page(PageTest):
    def test_the_page_does_not_jump_when_its_scrollbar_comes(self):
        self.assertEqual(self.browser.js("return getComputedStyle(document.documentElement).scrollbarGutter"), "stable")

    def test_settings_name_the_version_the_proxy_and_the_folder(self):
        self.browser.press(".settings-button")
        version = self.daemon.call("GET", "")["version"]
        self.browser.until(lambda: version in self.browser.text("dialog.settings"), "the version")
        text = self.browser.text("dialog.settings")
        self.assertIn(str(self.daemon.downloads), text)
        self.assertNotIn("below", text)

    def test_browsers_are_told_apart_by_when_they_signed_in(self):
        self.browser.press(".browsers-button")
        self.browser.until(lambda: "Signed in" in self.browser.text(".browser-list"), "when")
        self.browser.js("document.querySelector('.browser-list li:has(.browser-own) button').click()")
        self.forgives = [r"status of 401", r"ERR_INCOMPLETE_CHUNKED_ENCODING"]
        self.browser.until(lambda: "signed out" in self.browser.text(".sign-in"), "what was done")

    def test_a_daemon_of_another_version_is_said_to_be_one(self):
        self.forgives = [r"426", r"/api/v1/.*(ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_REFUSED)"]
        # As one that was updated answers: the next attempt to join is refused.
        self.browser.js("""
            const real = window.fetch;
            window.fetch = (path, options) => real(path, String(path).includes('/events?')
              ? { ...options, headers: { ...options.headers, 'Ferry-Version': '99' } } : options);""")
        self.daemon.kill()
        self.daemon.start()
        self.browser.until(lambda: "Ferry was updated" in self.browser.text(".lost"), "what happened")
        self.assertEqual(self.browser.one(".lost button").text, "Load again")
        self.browser.press(".lost button")
        self.browser.gone(".lost")

    def test_an_app_can_be_made_of_the_page(self):
        address = self.browser.js("return document.querySelector('link[rel=manifest]').href")
        with urllib.request.urlopen(address) as answer:
            self.assertIn(b'"name": "Ferry"', answer.read())


class Touch(PageTest):
    size = (390, 844)

    def test_what_is_touched_has_44_pixels(self):
        self.browser.cdp("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=1)
        self.addCleanup(self.browser.cdp, "Emulation.setTouchEmulationEnabled", enabled=False)
        self.browser.set_size(390, 844, True, 2)
        self.assertTrue(self.browser.js("return matchMedia('(pointer: coarse)').matches"))
        done = self.daemon.add(self.origin.file("10K", "done.bin"))
        self.browser.until_state(done, "completed")
        self.browser.press(".totals-toggle")
        self.assertEqual(self.browser.js("return document.documentElement.scrollWidth - innerWidth"), 0, "nothing is wider than the window")
        small = lambda: self.browser.js("""
            return [...document.querySelectorAll('button, select, .row-pick, summary')].filter((each) => each.checkVisibility() && !each.closest('.toast')).map((each) => {
                const { width, height } = each.getBoundingClientRect();
                return [each.className || each.name, Math.round(width), Math.round(height)];
            }).filter(([name, width, height]) => (width < 44 || height < 44) && name !== 'switch')""")
        self.assertEqual(small(), [])
        self.browser.press(self.browser.in_row(done, ".row-name"))
        self.browser.until(lambda: self.browser.text(f"{PANEL} .facts"), "the details")
        self.assertEqual(small(), [])

    def test_a_reason_has_a_line_of_its_own(self):
        failed = self.daemon.add(self.origin.file("10K", "gone.bin", "status=404"))
        self.browser.until_state(failed, "failed")
        place = lambda name: self.browser.js(
            "const box = arguments[0].getBoundingClientRect(); return [box.top, box.bottom, box.width]",
            self.browser.one(self.browser.in_row(failed, name)))
        (_, end, _), (top, bottom, width) = place(".row-state"), place(".row-reason")
        self.assertGreaterEqual(top, end - 4, "below the state")
        self.assertGreater(width, 0.9 * place(".row-facts")[2], "from one side to the other")
        self.assertLessEqual(bottom, place(".main")[0] + 1, "above the buttons")


class Figures(PageTest):
    def of(self, module, expression, *arguments):
        return self.browser.module(module, expression, *arguments)

    def test_what_is_missing_of_a_file_looks_missing_but_where_it_is_fetched_now(self):
        cells = self.of("ranges", """it.cells([{ start: 0, end: 20, state: 'done' }, { start: 20, end: 100, state: 'running', connection: 1 }], 100, 10)
            .map(({ done, isRunning, isAt }) => [done, isRunning, isAt])""")
        self.assertEqual(cells[:2], [[1, False, False]] * 2)
        self.assertEqual(cells[2], [0, True, True])
        self.assertEqual(cells[3:], [[0, True, False]] * 7)

    def test_the_time_of_a_run_that_ended_unseen_is_not_made_up(self):
        shown = self.of("figures", """it.figures({ state: 'completed', endedAt: '2026-01-01T00:05:00Z', progress: { totalBytes: 100, completedBytes: 100 } },
            [{ kind: 'started', date: '2026-01-01T00:00:00Z' }, { kind: 'resumed', date: '2026-01-01T00:04:00Z' }], false)""")
        self.assertEqual([text for key, text in shown if key in ("detail.average", "detail.duration")], ["", ""])

    def test_a_number_without_a_unit_is_offered_with_one(self):
        self.assertEqual(self.of("format", "[it.bareRate('100'), it.bareRate('fast'), it.bareRate('5 MB/s')]"), ["100 MB/s", None, None])

    def test_hints_for_a_terminal_are_left_out(self):
        said = self.of("text", "it.said({ en: 'it would begin again; --resume-unproven compares samples', zh: 'x' })")
        self.assertEqual(said, "it would begin again")
