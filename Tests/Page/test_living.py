"""A download's life, as it is seen: it moves, pauses, fails and says why, completes; reloads and restarts in between."""

import hashlib
import signal

from case import PageTest


class Living(PageTest):
    def shown_bytes(self, identifier):
        bar = self.browser.one(self.browser.in_row(identifier, "[role=progressbar]"))
        return float(bar.get_attribute("aria-valuenow") or 0)

    def test_it_is_seen_moving(self):
        identifier = self.held("8M", "moving.bin", "rate=500K")
        self.browser.until_state(identifier, "downloading")
        first = self.browser.until(lambda: self.shown_bytes(identifier), "some percent")
        second = self.browser.until(
            lambda: (lambda now: now if now > first else None)(self.shown_bytes(identifier)), "more percent")
        self.browser.until(lambda: self.shown_bytes(identifier) > second, "and more")
        amount = self.browser.text(self.browser.in_row(identifier, ".row-amount"))
        self.assertRegex(amount, r"^\d+\.\d (KB|MB) / 8\.0 MB$")
        self.browser.until(
            lambda: self.browser.text(self.browser.in_row(identifier, ".row-speed")).endswith("KB/s"), "its speed")
        self.browser.until(
            lambda: self.browser.text(self.browser.in_row(identifier, ".row-left")).endswith("left"), "the time left")
        self.browser.until(
            lambda: self.browser.text(".total-speed") not in ("", "0 B/s"), "the speed of all")
        self.browser.until(lambda: self.browser.driver.title.startswith("↓"), "the speed in the title")

    def test_pause_keeps_what_is_there_and_resume_goes_on(self):
        identifier = self.held(name="pausing.bin")
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 100_000, "some bytes")
        self.browser.press(self.browser.button(identifier, "pause"))
        self.browser.until_state(identifier, "paused")
        shown = self.daemon.show(identifier)
        self.assertEqual(shown["state"], "paused")
        self.assertEqual(self.browser.text(self.browser.in_row(identifier, ".row-state")), "Paused")
        kept = shown["progress"]["completedBytes"]
        self.assertGreater(kept, 0)
        self.browser.press(self.browser.button(identifier, "resume"))
        self.browser.until_state(identifier, "downloading")
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > kept, "more bytes than it had")
        self.browser.until(
            lambda: "resumed" in [event["kind"] for event in self.daemon.call("GET", f"/downloads/{identifier}/events")["items"]],
            "it says that it went on")

    def test_cancelling_asks_first_because_bytes_would_go(self):
        identifier = self.held(name="cancelling.bin")
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 50_000, "some bytes")
        self.browser.press(self.browser.button(identifier, "cancel"))
        question = self.browser.one("dialog.question")
        self.assertIn("cancelling.bin", question.text)
        self.assertEqual(self.browser.driver.switch_to.active_element.text, "Keep")
        self.browser.driver.switch_to.active_element.click()
        self.browser.gone("dialog.question")
        self.assertIn(self.daemon.show(identifier)["state"], ("downloading", "waiting"))
        self.browser.press(self.browser.button(identifier, "pause"))
        self.browser.until_state(identifier, "paused")
        self.browser.press(self.browser.button(identifier, "cancel"))
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until_state(identifier, "cancelled")
        self.assertEqual(self.browser.text(self.browser.in_row(identifier, ".row-amount")), "0 B")
        self.assertEqual(list(self.daemon.downloads.glob("*.part*")), [])
        self.browser.press(self.browser.button(identifier, "remove"))
        self.browser.gone(f'.row[data-id="{identifier}"]')

    def test_a_failed_one_says_why(self):
        wrong = "0" * 64
        identifier = self.daemon.add(self.origin.file("200K", "wrong.bin"), checksum=f"sha-256:{wrong}")
        self.browser.until_state(identifier, "failed")
        said = "checksum mismatch: the file has a different one from the expected"
        self.assertEqual(self.browser.text(self.browser.in_row(identifier, ".row-state")), "Download failed")
        self.assertEqual(self.browser.text(self.browser.in_row(identifier, ".row-reason")), said)
        self.assertEqual(self.browser.text(self.browser.in_row(identifier, ".row-percent")), "100.0%", "all of it is here")
        self.browser.until(lambda: "wrong.bin" in self.browser.text("[data-live=assertive]"), "it is announced")
        self.assertIn(said, self.browser.js("return document.querySelector('[data-live=assertive]').textContent"))

    def test_one_that_needs_its_user_is_loud(self):
        self.browser.until(lambda: self.browser.driver.title == "Ferry", "nothing is told yet")
        identifier = self.daemon.add(self.origin.file("200K", "locked.bin", "auth=basic:me:word"))
        self.browser.until(
            lambda: "locked.bin" in self.browser.text(".toast"), "a message says so")
        self.assertIn("the server asks for a user name and password", self.browser.text(".toast"))
        spoken = self.browser.js("return document.querySelector('[data-live=assertive]').textContent")
        self.assertIn("locked.bin needs you", spoken)
        self.browser.until(lambda: self.browser.driver.title.startswith("(1)"), "the title counts it")
        colour = "return getComputedStyle(document.querySelector('.chip[data-filter={}]')).color"
        self.assertNotEqual(self.browser.js(colour.format("needs")), self.browser.js(colour.format("all")))
        self.daemon.call("PATCH", f"/downloads/{identifier}", {"user": "me", "password": "word"})
        self.browser.until_state(identifier, "completed")
        self.browser.until(lambda: self.browser.driver.title == "Ferry", "and no more")

    def test_the_title_counts_what_the_filter_shows(self):
        self.daemon.add(self.origin.file("10K", "locked.bin", "auth=basic:me:word"))
        failed = self.daemon.add(self.origin.file("10K", "wrong.bin"), checksum=f"sha-256:{'0' * 64}")
        self.browser.until(lambda: self.browser.driver.title.startswith("(2)"), "both are counted")
        chip = self.browser.one(".chip[data-filter=needs]")
        self.browser.until(lambda: chip.text.split() == ["Needs", "you", "2"], "by the filter, too")
        self.assertIn("including failed ones", chip.get_attribute("title"))
        self.browser.press(self.browser.button(failed, "more"))
        self.browser.press("[role=menuitem][data-action=remove]")
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until(lambda: self.browser.driver.title.startswith("(1)"), "one is left")

    def test_one_that_is_resumed_behind_others_says_its_place(self):
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        first = self.held(name="first.bin", query="rate=200K")
        self.browser.until_state(first, "downloading")
        second = self.held(name="second.bin", query="rate=200K", startsPaused=True)
        others = [self.held(name=f"other-{number}.bin", query="rate=200K") for number in range(2)]
        for other in others:
            self.browser.until_state(other, "waiting")
        self.browser.until_state(second, "paused")
        self.browser.press(self.browser.button(second, "resume"))
        self.browser.until(
            lambda: "second.bin: resumed, number 3 of 3 that wait" in self.browser.text(".toasts"), "its place")
        self.browser.press(".toast [data-toast=action]")
        self.browser.until(
            lambda: [item["id"] for item in self.daemon.call("GET", "/downloads?state=waiting")["items"]][0] == second,
            "it is the next one")

    def test_a_completed_one_is_announced_with_its_path(self):
        self.daemon.call("PATCH", "/settings", {"rateLimit": 400_000})
        identifier = self.daemon.add(self.origin.file("1M", "told.bin"))
        self.browser.until_state(identifier, "downloading")
        self.daemon.call("PATCH", "/settings", {"rateLimit": None})
        self.browser.until_state(identifier, "completed")
        path = self.daemon.downloads / "told.bin"
        said = "return document.querySelector('[data-live=polite]').textContent"
        self.browser.until(lambda: str(path) in self.browser.js(said), "it is announced")
        self.assertIn(f"File saved to: {path}", self.browser.one(".toast").text)
        self.assertEqual(hashlib.sha256(path.read_bytes()).digest(), hashlib.sha256(self.origin.bytes(1_000_000)).digest())

    def test_ends_are_notified_when_that_is_allowed_and_nobody_looks(self):
        self.browser.js("""
            window.notified = [];
            window.Notification = class {
              static permission = 'default';
              static requestPermission = async () => { Notification.permission = 'granted'; };
              constructor(title, { body }) { window.notified.push([title, body]); }
            };
            Object.defineProperty(document, 'hidden', { get: () => window.isAway === true });""")
        bell = "[aria-label='Notify me when downloads end']"
        self.browser.press(bell)
        self.browser.until(lambda: self.browser.one(bell).get_attribute("aria-pressed") == "true", "they are on")
        seen = self.daemon.add(self.origin.file("10K", "seen.bin"))
        self.browser.until_state(seen, "completed")
        self.browser.until(lambda: "seen.bin" in self.browser.text(".toasts"), "it is told in the page")
        self.assertEqual(self.browser.js("return window.notified"), [], "who looks needs no notification")
        self.browser.js("window.isAway = true")
        self.daemon.add(self.origin.file("10K", "unseen.bin"))
        self.browser.until(lambda: self.browser.js("return window.notified.length"), "it is notified")
        path = self.daemon.downloads / "unseen.bin"
        self.assertEqual(
            self.browser.js("return window.notified"), [["Download complete", f"unseen.bin\nFile saved to: {path}"]])

    def test_one_that_waits_for_space_says_how_much_is_missing(self):
        self.addCleanup(self.daemon.call, "PATCH", "/settings", {"minFreeBytes": None})
        self.daemon.call("PATCH", "/settings", {"minFreeBytes": 10**15})
        identifier = self.daemon.add(self.origin.file("20M", "large.bin"))
        self.browser.until(
            lambda: "missing" in self.browser.text(self.browser.in_row(identifier, ".row-reason")), "how much is missing")

    def test_a_failed_one_that_is_retried_by_itself_says_when_and_needs_nobody(self):
        self.addCleanup(self.daemon.call, "PATCH", "/settings", {"retriesFailedAfter": None})
        self.daemon.call("PATCH", "/settings", {"retriesFailedAfter": 600})
        identifier = self.daemon.add(self.origin.file("10K", "later.bin", "cut=100"), maxRetries=0)
        self.browser.until_state(identifier, "failed")
        reason = self.browser.in_row(identifier, ".row-reason")
        self.browser.until(lambda: "next attempt in 9m" in self.browser.text(reason), lambda: f"when, not {self.browser.text(reason)}")
        self.assertIsNone(self.browser.row(identifier).get_attribute("data-needs"))
        self.assertFalse(self.browser.all("[data-filter=needs]")[0].is_displayed())
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.browser.until(lambda: "next attempt in" in self.browser.text("dialog.detail .detail-reason"), "the details too")
        self.assertNotIn("(1)", self.browser.driver.title)
        self.daemon.call("PATCH", "/settings", {"retriesFailedAfter": None})
        self.browser.until(lambda: self.browser.row(identifier).get_attribute("data-needs") == "user", "it needs somebody now")

    def test_one_that_waits_says_why(self):
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        first = self.held(name="first.bin")
        second = self.held(name="second.bin")
        self.browser.until_state(first, "downloading")
        self.browser.until_state(second, "waiting")
        self.assertEqual(self.browser.text(self.browser.in_row(second, ".row-state")), "Waiting to start")
        self.assertEqual(self.browser.text(self.browser.in_row(second, ".row-reason")), "others run first")

    def test_one_that_waits_for_a_connection_says_so(self):
        self.addCleanup(self.daemon.call, "PATCH", "/settings", {"connectionsPerHost": None})
        self.daemon.call("PATCH", "/settings", {"connectionsPerHost": 2})
        runs = [self.held(name=f"{number}.bin") for number in range(2)]
        for identifier in runs:
            self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 0, "bytes")
        waits = self.held(name="waits.bin")
        self.browser.until(
            lambda: self.browser.text(self.browser.in_row(waits, ".row-reason"))
            == "waiting: other downloads have all 2 connections to its server", "what it waits for")

    def test_start_puts_a_waiting_one_first_and_offers_one_more_at_a_time(self):
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        runs, first, last = (self.held(name=name) for name in ("runs.bin", "first.bin", "last.bin"))
        self.browser.until_state(runs, "downloading")
        self.browser.until(lambda: len(self.browser.all('.row[data-state="waiting"]')) == 2, "two wait")
        self.browser.press(self.browser.button(last, "resume"))
        self.assertIn("last.bin is next", self.browser.one(".toast").text)
        order = lambda: [item["id"] for item in self.daemon.call("GET", "/downloads?sort=queue&state=waiting")["items"]]
        self.browser.until(lambda: order() == [last, first], "it is the next one")
        self.browser.press(".toast [data-toast=action]")
        self.browser.until_state(last, "downloading")
        self.assertEqual(self.browser.state(first), "waiting")

    def test_what_fails_says_what_to_do_and_is_retried(self):
        identifier = self.daemon.add(self.origin.file("10K", "gone.bin", "status=404&times=1"))
        self.browser.until_state(identifier, "failed")
        main = self.browser.one(self.browser.in_row(identifier, ".main"))
        self.assertEqual(main.text, "Retry")
        self.assertTrue(self.browser.one(self.browser.button(identifier, "remove")).is_enabled(), "not cancelled, but removed")
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.assertIn("Check the link", self.browser.one("dialog.detail .detail-reason").text)
        self.browser.press(".chip[data-filter=needs]")
        self.assertEqual(self.browser.names(), ["gone.bin"])
        self.browser.press(self.browser.button(identifier, "resume"))
        self.until_api(identifier, lambda shown: shown["state"] == "completed", "it is complete")

    def test_figures_change_far_less_often_than_the_daemon_tells_them(self):
        identifier = self.held(name="calm.bin", query="rate=3M")
        self.browser.until_state(identifier, "downloading")
        self.browser.js("""
            window.told = window.changed = 0;
            const parse = JSON.parse;
            JSON.parse = (...given) => {
              const value = parse(...given);
              if (value?.downloads?.[0]?.bytesPerSecond !== undefined) window.told += 1;
              return value;
            };
            new MutationObserver(() => { window.changed += 1; })
              .observe(document.querySelector('.row-amount'), {childList: true, characterData: true, subtree: true});""")
        told, changed = self.browser.until(
            lambda: (lambda seen: seen if seen[0] >= 30 else None)(self.browser.js("return [told, changed]")), "much was told")
        self.assertGreater(changed, 0)
        self.assertLess(changed, told / 3)

    def test_one_that_meets_a_busy_server_says_when_it_tries_again(self):
        identifier = self.daemon.add(self.busy())
        self.browser.until_state(identifier, "waiting")
        self.browser.until(
            lambda: "next attempt" in self.browser.text(self.browser.in_row(identifier, ".row-reason")), "when it tries again")
        self.assertNotIn("budget", self.browser.text(self.browser.in_row(identifier, ".row-reason")), "of what is not the reason")

    def test_when_the_daemon_is_away_nothing_is_said_to_be_tried_again(self):
        self.forgives = [r"net::ERR_"]
        identifier = self.daemon.add(self.busy())
        reason = lambda: self.browser.text(self.browser.in_row(identifier, ".row-reason"))
        self.browser.until(lambda: "next attempt" in reason(), "when it tries again")
        self.daemon.kill()
        self.browser.one(".lost")
        self.browser.until(lambda: reason() and "next attempt" not in reason(), "nobody counts any more; why it waited stays")
        self.daemon.start()
        self.browser.until(lambda: "next attempt" in reason(), "when it tries again")

    def test_one_behind_a_busy_server_says_so_and_offers_to_try_it_now(self):
        url = self.busy()
        first = self.daemon.add(url)
        self.browser.until(
            lambda: "503" in self.browser.text(self.browser.in_row(first, ".row-reason")), "why it tries again")
        second = self.daemon.add(url.replace("busy.bin", "behind.bin"))
        self.browser.until(
            lambda: "asked to wait (503)" in self.browser.text(self.browser.in_row(second, ".row-reason")), "what the server does")
        self.assertEqual(self.browser.one(self.browser.in_row(second, ".main")).text, "Try now")

    def test_buttons_are_enabled_when_the_daemon_allows_them(self):
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        made = {"downloading": self.held(name="runs.bin")}
        self.browser.until_state(made["downloading"], "downloading")
        made["waiting"] = self.held(name="waits.bin")
        made["paused"] = self.held(name="rests.bin", startsPaused=True)
        made["cancelled"] = self.held(name="gone.bin", startsPaused=True)
        self.daemon.call("POST", f"/downloads/{made['cancelled']}/cancel")
        for state, identifier in made.items():
            self.browser.until_state(identifier, state)
            actions = self.daemon.show(identifier)["actions"]
            buttons = self.browser.js("""
                return [...document.querySelectorAll(`.row[data-id='${arguments[0]}'] button[data-action]`)]
                  .filter((button) => !button.hidden && button.dataset.action !== 'more')
                  .map((button) => [button.dataset.action, !button.disabled])""", identifier)
            self.assertGreaterEqual(len(buttons), 2)
            for action, is_enabled in buttons:
                self.assertEqual(is_enabled, action in actions, f"{action} of one that is {state}")

    def test_what_the_daemon_does_not_allow_cannot_be_pressed(self):
        """Rows show what is mostly allowed: a daemon that allows less is made up here, by what the page reads."""
        identifier = self.held(name="forbidden.bin", startsPaused=True)
        allowed = self.held(name="allowed.bin", startsPaused=True)
        script = self.browser.cdp("Page.addScriptToEvaluateOnNewDocument", source="""
            const real = window.fetch;
            window.fetch = async (path, ...rest) => {
              const answer = await real(path, ...rest);
              if (!String(path).startsWith('/api/v1/downloads?')) return answer;
              const list = await answer.json();
              for (const item of list.items) if (item.name === 'forbidden.bin') item.actions = ['remove'];
              return Response.json(list);
            };""")["identifier"]
        self.addCleanup(self.browser.cdp, "Page.removeScriptToEvaluateOnNewDocument", identifier=script)
        self.browser.driver.refresh()
        self.browser.until_state(identifier, "paused")
        for action in ("resume", "cancel"):
            self.assertFalse(self.browser.one(self.browser.button(identifier, action)).is_enabled(), action)
            self.assertTrue(self.browser.one(self.browser.button(allowed, action)).is_enabled(), action)
        self.browser.press(self.browser.in_row(identifier, ".row-check"))
        self.assertFalse(self.browser.one(".selection [data-action=resume]").is_enabled())
        self.assertTrue(self.browser.one(".selection [data-action=remove]").is_enabled())
        self.browser.press(self.browser.button(identifier, "more"))
        menu = {
            item.get_attribute("data-action"): item.get_attribute("aria-disabled") == "true"
            for item in self.browser.all("[role=menuitem]")}
        self.assertEqual(
            {name: menu[name] for name in ("resume", "pause", "cancel", "remove")},
            {"resume": True, "pause": True, "cancel": True, "remove": False})

    def test_a_reload_in_the_middle_changes_nothing(self):
        identifier = self.held(name="reloaded.bin")
        self.browser.until_state(identifier, "downloading")
        before = self.browser.until(lambda: self.shown_bytes(identifier), "some percent")
        self.browser.driver.refresh()
        self.browser.until_state(identifier, "downloading")
        self.assertGreaterEqual(self.shown_bytes(identifier), before)
        self.browser.until(lambda: self.shown_bytes(identifier) > before, "it goes on moving")

    def test_pages_that_were_left_keep_no_connection(self):
        """A browser makes six connections to one host, and keeps pages that were left, to go back to."""
        identifier = self.held(name="left.bin")
        for _ in range(10):
            self.browser.until_state(identifier, "downloading")
            self.browser.open(self.daemon.page)
        self.browser.until_state(identifier, "downloading")
        self.browser.driver.back()
        self.browser.driver.back()
        self.browser.until_state(identifier, "downloading")
        self.daemon.call("POST", f"/downloads/{identifier}/pause")
        self.browser.until_state(identifier, "paused")

    def test_eight_tabs_share_one_stream(self):
        """A browser makes six connections to one host: tabs with a stream each would wait for one another."""
        identifier = self.held(name="shared.bin")
        self.browser.until_state(identifier, "downloading")
        driver, first = self.browser.driver, self.browser.driver.current_window_handle
        tabs = []
        try:
            for _ in range(7):
                driver.switch_to.new_window("tab")
                tabs.append(driver.current_window_handle)
                driver.get(self.daemon.page)
                self.browser.until_state(identifier, "downloading")
            self.browser.press(self.browser.button(identifier, "pause"))
            for tab in [first, *tabs]:
                driver.switch_to.window(tab)
                self.browser.until_state(identifier, "paused")
            # The tab that reads the stream goes: the others go on.
            driver.switch_to.window(first)
            self.browser.open("about:blank")
            self.daemon.call("POST", f"/downloads/{identifier}/resume")
            for tab in tabs:
                driver.switch_to.window(tab)
                self.browser.until_state(identifier, "downloading")
            self.daemon.call("DELETE", f"/downloads/{identifier}")
            for tab in tabs:
                driver.switch_to.window(tab)
                self.browser.one(".empty:not(.small)")
        finally:
            for tab in tabs:
                driver.switch_to.window(tab)
                driver.close()
            driver.switch_to.window(first)

    def test_a_frozen_tab_does_not_keep_the_stream_from_others(self):
        """The tab that reads the stream may be frozen by the browser, or wait for a dialog: the others go on without it."""
        identifier = self.held(name="thawed.bin")
        self.browser.until_state(identifier, "downloading")
        driver, frozen = self.browser.driver, self.browser.driver.current_window_handle
        driver.switch_to.new_window("tab")
        other = driver.current_window_handle
        try:
            driver.get(self.daemon.page)
            self.browser.until_state(identifier, "downloading")
            driver.switch_to.window(frozen)
            self.browser.cdp("Page.setWebLifecycleState", state="frozen")
            driver.switch_to.window(other)
            # The events of this tab alone tell both: it has asked for nothing.
            added = self.daemon.add(self.origin.file("10K", "meanwhile.bin"))
            self.browser.until_state(added, "completed")
            shown = self.shown_bytes(identifier)
            self.browser.until(lambda: self.shown_bytes(identifier) > shown, "it is seen moving")
            driver.get(self.daemon.page)
            self.browser.until_state(added, "completed")
            # The frozen one has missed all that; it wakes beside another one that reads.
            driver.switch_to.window(frozen)
            self.browser.cdp("Page.setWebLifecycleState", state="active")
            self.browser.until_state(added, "completed")
            self.daemon.call("DELETE", f"/downloads/{added}")
            self.daemon.call("POST", f"/downloads/{identifier}/pause")
            for tab in (frozen, other):
                driver.switch_to.window(tab)
                self.browser.until_state(identifier, "paused")
                self.browser.gone(f'.row[data-id="{added}"]')
                self.browser.gone(".lost")
        finally:
            driver.switch_to.window(other)
            driver.close()
            driver.switch_to.window(frozen)

    def restarted(self, ends):
        self.forgives = [r"net::ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|CONNECTION_RESET|EMPTY_RESPONSE)"]
        identifier = self.held("4M", "survivor.bin")
        self.browser.until_state(identifier, "downloading")
        # So much that a checkpoint has claimed some of it.
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 1_000_000, "some bytes")
        ends()
        self.assertIn("does not answer", self.browser.one(".lost").text)
        self.assertTrue(self.browser.row(identifier).is_displayed(), "the list stays while the daemon is away")
        self.daemon.start()
        self.browser.gone(".lost")
        self.assertNotIn("does not answer", self.browser.js("return document.querySelector('[data-live=assertive]').textContent"))
        self.browser.until_state(identifier, "downloading")
        self.browser.until(lambda: self.shown_bytes(identifier) > 30, "it goes on moving")
        self.browser.until_state(identifier, "completed")
        self.assertEqual((self.daemon.downloads / "survivor.bin").read_bytes(), self.origin.bytes(4_000_000))

    def test_nothing_can_be_pressed_while_the_daemon_is_away(self):
        self.forgives = [r"net::ERR_"]
        identifier = self.held("40M", "stale.bin")
        self.browser.until_state(identifier, "downloading")
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        panel = "dialog.detail .figures-grid"
        self.browser.until(lambda: "B/s" in self.browser.text(panel), "its speed")
        usable = """
            return [...document.querySelectorAll('.row .main, .row-end, .detail-buttons button, .limits input, .limits button, .limits select, .all-button')]
              .filter((node) => !node.disabled && !node.hidden).map((node) => node.className)"""
        self.assertNotEqual(self.browser.js(usable), [])
        self.daemon.kill()
        self.browser.one(".lost")
        self.browser.until(lambda: self.browser.js(usable) == [], f"{self.browser.js(usable)} are disabled")
        self.assertIn("does not answer", self.browser.one(self.browser.in_row(identifier, ".main")).get_attribute("title"))
        self.assertNotIn("B/s", self.browser.text(panel), "no speed is known")
        self.browser.press(self.browser.button(identifier, "more"))
        self.assertEqual(
            self.browser.js("return [...document.querySelectorAll('[role=menuitem]:not([aria-disabled])')].map((item) => item.dataset.action)"),
            ["open", "copy"])
        self.daemon.start()
        self.browser.gone(".lost")
        self.browser.until(lambda: self.browser.one(self.browser.in_row(identifier, ".main")).is_enabled(), "it can be used again")

    def test_figures_of_a_daemon_that_hangs_do_not_look_new(self):
        self.forgives = [r"net::ERR_"]
        self.browser.until_state(self.held(), "downloading")
        self.addCleanup(self.daemon.process.send_signal, signal.SIGCONT)
        self.daemon.process.send_signal(signal.SIGSTOP)
        # Sooner than the silence of 45 seconds would tell it.
        self.browser.until(lambda: any(found.is_displayed() for found in self.browser.all(".lost")), "the page says so", patience=40)
        self.daemon.process.send_signal(signal.SIGCONT)
        self.browser.gone(".lost")

    def test_a_daemon_that_is_killed_is_joined_again(self):
        self.restarted(self.daemon.kill)

    def test_a_daemon_that_leaves_is_joined_again(self):
        self.restarted(self.daemon.stop)
