"""The list: filters, search, sorting, selecting many, order."""

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from case import PageTest


class TheList(PageTest):
    def make(self, *names):
        made = [self.daemon.add(self.origin.file("10K", name), startsPaused=True) for name in names]
        self.browser.until(lambda: len(self.browser.all(".row")) == len(self.daemon.items()), "all have rows")
        return made

    def until_names(self, *names):
        self.browser.until(lambda: self.browser.names() == list(names), f"{names}, not {self.browser.names()}")

    def order(self):
        return [item["name"] for item in self.daemon.call("GET", "/downloads?sort=queue")["items"]]

    def test_filters_search_and_sorting(self):
        self.make("beta.bin", "alpha.bin", "gamma.bin")
        done = self.daemon.add(self.origin.file("20K", "done.bin"))
        self.browser.until_state(done, "completed")
        self.browser.press(".chip[data-filter=completed]")
        self.until_names("done.bin")
        self.assertEqual(self.browser.one(".chip[data-filter=completed]").get_attribute("aria-pressed"), "true")
        self.assertEqual(self.browser.text(".chip[data-filter=paused] .chip-count"), "3")
        self.browser.press(".chip[data-filter=all]")
        self.browser.write("[name=search]", "ALPH")
        self.until_names("alpha.bin")
        self.browser.write("[name=search]", "nothing has this name")
        self.browser.one(".empty.small")
        self.browser.press(".empty.small button")
        self.browser.press("[name=sort] option[value=name]")
        self.until_names("alpha.bin", "beta.bin", "done.bin", "gamma.bin")

    def test_rows_are_there_when_what_stood_above_them_goes(self):
        self.make(*(f"{number}.bin" for number in range(8)))
        shown = lambda: sum(found.is_displayed() for found in self.browser.all(".row"))
        self.browser.press(".options-toggle")
        for section in self.browser.all(".options .section summary"):
            section.click()
        self.browser.one(".options [name=label]").click()
        self.browser.js("scrollTo(0, 0)")
        self.browser.until(lambda: shown() < 8, "the list is below the window")
        self.browser.press(".options-toggle")
        self.browser.until(lambda: shown() == 8, "all rows")

    def test_a_wide_window_has_columns_that_order_the_list(self):
        self.make("beta.bin", "alpha.bin", "gamma.bin")
        done = self.daemon.add(self.origin.file("20K", "done.bin"))
        self.browser.until_state(done, "completed")
        self.assertFalse(self.browser.js("return document.querySelector('.columns').checkVisibility()"), "there is no room")
        height = self.browser.row(done).size["height"]
        self.browser.set_size(1920, 900)
        name = self.browser.one(".column-name")
        self.browser.until(lambda: self.browser.row(done).size["height"] < height, "rows are lower")
        left = lambda selector: self.browser.js("return Math.round(document.querySelector(arguments[0]).getBoundingClientRect().left)", selector)
        for head, cell in {"name": "name", "size": "amount", "progress": "percent", "state": "state", "added": "added"}.items():
            self.assertEqual(left(f".column-{head}"), left(self.browser.in_row(done, f".row-{cell}")), f"{head} stands above what it names")
        state = self.browser.one(self.browser.in_row(done, ".row-state"))
        self.assertEqual(state.text, "Download complete")
        hidden = self.browser.js("return arguments[0].scrollWidth - arguments[0].clientWidth", state)
        self.assertLessEqual(hidden, 0, "it is seen whole")
        for label, names in (
            ("Name: ascending", ("alpha.bin", "beta.bin", "done.bin", "gamma.bin")),
            ("Name: descending", ("gamma.bin", "done.bin", "beta.bin", "alpha.bin")),
            ("Name: sort", ("beta.bin", "alpha.bin", "gamma.bin", "done.bin")),
        ):
            name.click()
            self.until_names(*names)
            self.assertEqual(name.get_attribute("aria-label"), label)
        self.browser.press(".column-progress")
        self.until_names("done.bin", "beta.bin", "alpha.bin", "gamma.bin")
        self.browser.driver.refresh()
        self.browser.until(lambda: self.browser.names()[:1] == ["done.bin"], "the order is kept")
        self.assertEqual(self.browser.one("[name=sort]").get_attribute("value"), "progress")
        # Details take the room.
        self.browser.set_size(1500, 900)
        self.browser.press(self.browser.in_row(done, ".row-name"))
        self.browser.gone(".columns")

    def test_many_are_selected_and_acted_on_at_once(self):
        made = [self.held(name=f"picked-{number}.bin") for number in range(3)]
        for identifier in made:
            self.browser.until_state(identifier, "downloading")
        for identifier in made[:2]:
            self.browser.press(self.browser.in_row(identifier, ".row-check"))
        self.assertEqual(self.browser.one(".selection-count").text, "2 selected")
        self.browser.press(".selection [data-action=pause]")
        for identifier in made[:2]:
            self.browser.until_state(identifier, "paused")
        self.assertEqual(self.browser.state(made[2]), "downloading")
        self.browser.press(".selection [aria-label='Select all shown']")
        self.assertEqual(self.browser.one(".selection-count").text, "3 selected")
        self.browser.js("performance.clearResourceTimings()")
        self.browser.press(".selection [data-action=remove]")
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.one(".empty:not(.small)")
        self.assertEqual(self.daemon.items(), [])
        asked = lambda: self.browser.js(
            "return performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)")
        self.browser.until(lambda: asked().count("/api/v1/downloads/remove") == 1, "one request for all")
        self.assertEqual([path for path in asked() if path.split("/")[-1] in made], [])

    def test_of_many_that_are_removed_one_that_cannot_be_keeps_no_other(self):
        made = self.make("first.bin", "second.bin")
        # Changed on its way: the first one that the page asks for is one that nobody lists.
        self.browser.js("""
            const [identifier] = arguments, real = window.fetch;
            window.fetch = (path, options) => real(path, String(path).endsWith('/downloads/remove')
              ? { ...options, body: options.body.replace(identifier, 'nobody') } : options);
            """, made[0])
        for identifier in made:
            self.browser.press(self.browser.in_row(identifier, ".row-check"))
        self.browser.press(".selection [data-action=remove]")
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.gone(f'.row[data-id="{made[1]}"]')
        self.assertIn("nobody", self.browser.one(".toast").text)
        self.assertEqual([item["id"] for item in self.daemon.items()], made[:1])

    def test_thousands_are_removed_by_one_request_which_a_message_tells(self):
        for start in range(2):
            self.daemon.call("POST", "/downloads", {"downloads": [
                {"urls": [self.origin.file("10K", f"many-{start}-{number}.bin")], "startsPaused": True} for number in range(600)]})
        self.browser.until(lambda: self.browser.text(".chip[data-filter=all] .chip-count") == "1,200", "all are listed")
        # The request waits until the message has been seen.
        self.browser.js("""
            const real = window.fetch;
            window.asked = 0;
            window.fetch = async (path, options) => {
              if (!String(path).endsWith('/downloads/remove')) return real(path, options);
              window.asked += 1;
              await new Promise((resolve) => { window.goOn = resolve; });
              return real(path, options);
            };""")
        self.browser.one(".row").send_keys(Keys.CONTROL + "a")
        self.browser.press(".selection [data-action=remove]")
        self.assertIn("1,200 downloads", self.browser.one("dialog.question").text)
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until(lambda: "Removing 1,200 downloads…" in self.browser.text(".toasts"), "what goes on")
        self.browser.js("window.goOn()")
        self.browser.one(".empty:not(.small)")
        self.browser.until(lambda: "Removing" not in self.browser.text(".toasts"), "the message goes")
        self.assertEqual(self.browser.js("return window.asked"), 1)

    def test_the_keyboard_stays_among_the_buttons_for_the_selected_ones(self):
        made = [self.held(name=f"picked-{number}.bin") for number in range(2)]
        for identifier in made:
            self.browser.until_state(identifier, "downloading")
            self.browser.press(self.browser.in_row(identifier, ".row-check"))
        focused = lambda: self.browser.js(
            "return document.activeElement.closest('.selection') && document.activeElement.dataset.action")
        self.browser.press(".selection [data-action=pause]")
        self.browser.until(lambda: focused() == "resume", lambda: f"the focus is on Resume, not on {focused()}")
        self.browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
        for identifier in made:
            self.browser.until_state(identifier, "downloading")
        self.browser.until(lambda: focused() == "pause", lambda: f"the focus is on Pause, not on {focused()}")

    def test_a_key_that_cancels_does_not_take_off_the_list_when_it_is_pressed_again(self):
        made = [self.held(name=f"new-{number}.bin", startsPaused=True) for number in range(3)]
        focused = lambda: self.browser.driver.switch_to.active_element
        for identifier in made[:2]:
            self.browser.until_state(identifier, "paused")
            self.browser.press(self.browser.in_row(identifier, ".row-check"))
        self.browser.one(".selection [data-action=cancel]").send_keys(Keys.ENTER)
        for identifier in made[:2]:
            self.browser.until_state(identifier, "cancelled")
        more = "More for the selected ones"
        self.browser.until(lambda: focused().get_attribute("aria-label") == more, "what takes none away has the focus")
        focused().send_keys(Keys.ENTER)
        self.browser.one("[role=menu]")
        focused().send_keys(Keys.ESCAPE)
        self.browser.press(".selection [aria-label='Clear the selection']")
        # Likewise in a row, whose button becomes another one.
        self.browser.one(self.browser.button(made[2], "cancel")).send_keys(Keys.ENTER)
        self.browser.until_state(made[2], "cancelled")
        self.browser.until(lambda: focused().get_attribute("data-id") == made[2], "the row has the focus")
        self.assertEqual(len(self.browser.names()), 3)

    def test_what_ends_before_many_are_paused_is_no_failure(self):
        made = [self.held(name=f"paused-{number}.bin") for number in range(3)]
        for identifier in made:
            self.browser.until_state(identifier, "downloading")
        # The request of the page comes after two have ended elsewhere.
        self.browser.js("""
            const real = window.fetch;
            window.fetch = async (...given) => {
              if (String(given[0]).endsWith('/downloads/pause')) await new Promise((go) => { window.release = go; });
              return real(...given);
            }""")
        self.browser.press("[data-all=pause]")
        self.browser.until(lambda: self.browser.js("return Boolean(window.release)"), "it is about to ask")
        self.daemon.call("POST", f"/downloads/{made[0]}/cancel")
        self.daemon.call("DELETE", f"/downloads/{made[1]}")
        self.browser.js("window.release()")
        self.browser.until_state(made[2], "paused")
        said = lambda: self.browser.js("return document.querySelector('[data-live=polite]').textContent")
        self.browser.until(lambda: said() == "1 download paused", lambda: f"it is told, not {said()}")
        self.assertEqual(self.browser.all(".toast-warn"), [])

    def test_all_are_paused_resumed_and_cleared_from_the_menu(self):
        made = [self.held(name=f"all-{number}.bin") for number in range(2)]
        done = self.daemon.add(self.origin.file("10K", "ready.bin"))
        self.browser.until_state(done, "completed")

        def choose(label):
            self.browser.press(".bar-tools [aria-haspopup=menu]")
            item = self.browser.until(
                lambda: next((found for found in self.browser.all("[role=menuitem]") if found.text == label), None), label)
            self.assertNotEqual(item.get_attribute("aria-disabled"), "true", label)
            item.click()

        choose("Pause all")
        for identifier in made:
            self.browser.until_state(identifier, "paused")
        choose("Resume all")
        for identifier in made:
            self.browser.until_state(identifier, "downloading")
        choose("Clear completed ones")
        self.browser.gone(f'.row[data-id="{done}"]')
        # It fails once, then the server is right.
        failed = self.daemon.add(self.origin.file("10K", "again.bin", "status=404&times=1"))
        self.browser.until_state(failed, "failed")
        choose("Try failed ones again")
        self.browser.until_state(failed, "completed")
        self.assertTrue((self.daemon.downloads / "ready.bin").exists())

    def test_all_are_paused_and_resumed_by_buttons_in_sight(self):
        made = [self.held(name=f"sight-{number}.bin") for number in range(2)]
        for identifier in made:
            self.browser.until_state(identifier, "downloading")
        focused = lambda: self.browser.js("return document.activeElement.dataset.all ?? null")
        self.assertFalse(self.browser.one("[data-all=resume]").is_enabled(), "none is paused")
        self.browser.press("[data-all=pause]")
        for identifier in made:
            self.browser.until_state(identifier, "paused")
        self.browser.until(lambda: focused() == "resume", lambda: f"the other one has the focus, not {focused()}")
        self.browser.press("[data-all=resume]")
        for identifier in made:
            self.browser.until_state(identifier, "downloading")
        self.browser.until(lambda: focused() == "pause", lambda: f"the other one has the focus, not {focused()}")

    def test_a_button_of_a_row_that_goes_leaves_the_focus_to_the_row(self):
        identifier = self.daemon.add(self.busy())
        self.browser.until_state(identifier, "waiting")
        self.browser.one(self.browser.button(identifier, "pause")).send_keys(Keys.ENTER)
        self.browser.until_state(identifier, "paused")
        self.browser.until(
            lambda: self.browser.js("return document.activeElement.dataset.id ?? null") == identifier, "the row has it")

    def test_the_search_keeps_the_focus_when_all_that_it_shows_are_removed(self):
        for name in ("found.bin", "other.bin"):
            self.browser.until_state(self.daemon.add(self.origin.file("10K", name)), "completed")
        self.browser.write(".search-field", "found")
        self.browser.until(lambda: self.browser.names() == ["found.bin"], "one is shown")
        self.browser.one(".row").send_keys(Keys.DELETE)
        self.browser.until(
            lambda: self.browser.js("return document.activeElement.name") == "search", "the search has it")

    def test_every_filter_is_seen_whole_on_a_small_desk(self):
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        made = {"completed": self.daemon.add(self.origin.file("10K", "done.bin"))}
        self.browser.until_state(made["completed"], "completed")
        made["failed"] = self.daemon.add(self.origin.file("10K", "gone.bin", "status=404"))
        self.browser.until_state(made["failed"], "failed")
        made |= {"downloading": self.held(name="runs.bin"), "waiting": self.held(name="waits.bin")}
        [made["paused"], made["cancelled"]] = self.make("rests.bin", "ends.bin")
        self.daemon.call("POST", f"/downloads/{made['cancelled']}/cancel")
        for state, identifier in made.items():
            self.browser.until_state(identifier, state)
        self.browser.until(lambda: len([chip for chip in self.browser.all(".chip") if chip.is_displayed()]) == 8, "all filters")
        self.assertEqual(*self.browser.js("const chips = document.querySelector('.chips'); return [chips.scrollWidth, chips.clientWidth]"))

    def test_figures_are_seen_whole_beside_details(self):
        identifier = self.held("4000M", name="large.bin", query="rate=100K")
        last = ".row-left"
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.browser.one("dialog.detail")
        self.browser.until(lambda: "left" in self.browser.text(self.browser.in_row(identifier, last)), "the time that is left")
        for width in (1100, 1280, 1366):
            self.browser.set_size(width, 800)
            # Figures with the most letters there are.
            beyond = self.browser.until(lambda: self.browser.js("""
                const row = document.querySelector('.row');
                for (const [name, text] of [['amount', '999.9 MB of 4.00 GB'], ['speed', '99.9 MB/s'], ['left', '59m 59s left']])
                  row.querySelector(`.row-${name}`).textContent = text;
                const facts = row.querySelector('.row-facts').getBoundingClientRect();
                const end = row.querySelector('.row-left').getBoundingClientRect().right;
                return innerWidth === arguments[0] && [end - facts.right]""", width), f"{width} pixels")
            self.assertLessEqual(beyond[0], 0.5, f"at {width} pixels")
            over = self.browser.js("""
                const rim = document.querySelector('.totals').getBoundingClientRect().right;
                return Math.max(...[...document.querySelectorAll('.limits *')].map((node) => node.getBoundingClientRect().right)) - rim""")
            self.assertLess(over, 0, f"limits are in their card at {width} pixels")

    def test_a_row_is_dragged_to_another_place(self):
        made = self.make("1.bin", "2.bin", "3.bin", "4.bin")
        self.until_names("1.bin", "2.bin", "3.bin", "4.bin")
        row = self.browser.row(made[0])
        grip = self.browser.one(self.browser.in_row(made[0], ".row-grip"))
        height = row.size["height"]
        drag = ActionChains(self.browser.driver).click_and_hold(grip)
        for _ in range(8):
            drag.move_by_offset(0, int(height / 4))
        drag.release().perform()
        self.until_names("2.bin", "3.bin", "1.bin", "4.bin")
        self.browser.until(lambda: self.order() == ["2.bin", "3.bin", "1.bin", "4.bin"], "the daemon has that order")

    def test_a_dragged_row_leaves_with_its_download(self):
        made = self.make("1.bin", "2.bin", "3.bin", "4.bin")
        self.until_names("1.bin", "2.bin", "3.bin", "4.bin")
        grip = self.browser.one(self.browser.in_row(made[1], ".row-grip"))
        ActionChains(self.browser.driver).click_and_hold(grip).move_by_offset(0, 40).perform()
        self.browser.one(".row.is-dragged")
        self.daemon.call("DELETE", f"/downloads/{made[1]}")
        self.until_names("1.bin", "3.bin", "4.bin")
        self.assertEqual(self.browser.all(".is-dragged, .is-dragging"), [])
        ActionChains(self.browser.driver).move_by_offset(0, 40).release().perform()
        self.until_names("1.bin", "3.bin", "4.bin")
        self.assertEqual(self.order(), ["1.bin", "3.bin", "4.bin"])

    def test_a_row_is_dropped_where_it_is_seen_though_another_has_left(self):
        made = self.make("1.bin", "2.bin", "3.bin", "4.bin")
        self.until_names("1.bin", "2.bin", "3.bin", "4.bin")
        grip = self.browser.one(self.browser.in_row(made[2], ".row-grip"))
        ActionChains(self.browser.driver).click_and_hold(grip).move_by_offset(0, 10).perform()
        self.browser.one(".row.is-dragged")
        self.daemon.call("DELETE", f"/downloads/{made[0]}")
        self.browser.until(lambda: len(self.browser.all(".row")) == 3, "it has left")
        # The pointer has stayed, and is at the last place now.
        ActionChains(self.browser.driver).move_by_offset(0, 1).release().perform()
        self.until_names("2.bin", "4.bin", "3.bin")
        self.browser.until(lambda: self.order() == ["2.bin", "4.bin", "3.bin"], "the daemon has that order")

    def test_a_row_is_moved_by_the_keyboard(self):
        made = self.make("1.bin", "2.bin", "3.bin")
        self.browser.js("arguments[0].focus()", self.browser.row(made[2]))
        ActionChains(self.browser.driver).key_down(Keys.ALT).send_keys(Keys.ARROW_UP).key_up(Keys.ALT).perform()
        self.until_names("1.bin", "3.bin", "2.bin")
        self.browser.until(lambda: self.order() == ["1.bin", "3.bin", "2.bin"], "the daemon has that order")
        self.browser.until(
            lambda: "place 2 of 3" in self.browser.js("return document.querySelector('[data-live=polite]').textContent"),
            "the place is said")

    def test_an_order_that_others_make_is_shown(self):
        made = self.make("1.bin", "2.bin", "3.bin")
        self.daemon.call("POST", f"/downloads/{made[2]}/move", {"to": "first"})
        self.until_names("3.bin", "1.bin", "2.bin")

    def test_what_else_can_be_done_is_in_the_menu_of_a_row(self):
        made = self.make("1.bin", "2.bin")
        self.browser.press(self.browser.button(made[1], "more"))
        self.browser.press("[role=menuitem][data-action='do.first']")
        self.until_names("2.bin", "1.bin")
        self.browser.until(lambda: self.order() == ["2.bin", "1.bin"], "the daemon has that order")
        done = self.daemon.add(self.origin.file("10K", "here.bin"))
        self.browser.until_state(done, "completed")
        self.browser.js("window.copied = null; navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        self.browser.press(self.browser.button(done, "more"))
        self.browser.press("[role=menuitem][data-action=copyPath]")
        self.browser.until(lambda: self.browser.js("return window.copied") == str(self.daemon.downloads / "here.bin"), "its path")

    def test_a_double_click_opens_the_menu_of_a_row_and_chooses_nothing(self):
        made = self.make(*[f"{number:02}.bin" for number in range(12)])
        self.browser.set_size(1280, 720)
        covered = 0
        for identifier in made[:8]:
            button = self.browser.one(self.browser.button(identifier, "more"))
            self.browser.js("arguments[0].scrollIntoView({ block: 'center' })", button)
            ActionChains(self.browser.driver).double_click(button).perform()
            covered += self.browser.js(
                "const { left, top, width, height } = arguments[0].getBoundingClientRect();"
                "return document.elementFromPoint(left + width / 2, top + height / 2).closest('[role=menuitem]') ? 1 : 0", button)
            self.browser.js("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))")
            self.browser.gone("[role=menu]")
        self.assertGreater(covered, 0, "a menu opened under the pointer")
        self.assertEqual(self.browser.names(), [f"{number:02}.bin" for number in range(12)])
        self.assertEqual(self.browser.all("dialog[open]"), [])

    def test_a_double_click_on_pause_pauses(self):
        identifier = self.daemon.add(self.origin.file("20M", "paused.bin", "rate=500K&etag=paused"))
        self.browser.until_state(identifier, "downloading")
        for opened, button in (("", self.browser.button(identifier, "pause")), ("it is opened", "dialog.detail [data-action=pause]")):
            if opened:
                self.browser.press(self.browser.in_row(identifier, ".row-name"))
            found = self.browser.one(button)
            # The button resumes by the second click.
            ActionChains(self.browser.driver).click(found).pause(0.3).click().perform()
            self.browser.until_state(identifier, "paused")
            self.daemon.add(self.origin.file("10K", f"later{len(opened)}.bin"))
            self.browser.until(lambda: f"later{len(opened)}.bin" in self.browser.names(), "what was asked for has come")
            self.assertEqual(self.daemon.show(identifier)["state"], "paused", opened)
            self.browser.press(button.replace("pause", "resume"))
            self.browser.until_state(identifier, "downloading")


class Removing(PageTest):
    def finished(self, *names):
        made = [self.daemon.add(self.origin.file("10K", name)) for name in names]
        for identifier in made:
            self.browser.until_state(identifier, "completed")
        return made

    def focused(self):
        return self.browser.driver.switch_to.active_element.get_attribute("data-id")

    def test_a_double_click_on_remove_takes_one_off_the_list(self):
        made = self.finished("one.bin", "two.bin", "three.bin")
        ActionChains(self.browser.driver).double_click(self.browser.one(self.browser.button(made[0], "remove"))).perform()
        self.browser.gone(f'.row[data-id="{made[0]}"]')
        self.assertEqual(self.browser.names(), ["two.bin", "three.bin"])
        self.assertIn("one.bin", self.browser.one(".toast:has([data-toast])").text)

    def test_a_removal_is_undone(self):
        made = self.finished("back.bin", "other.bin")
        self.browser.until(lambda: len(self.browser.all(".toast")) == 2, "their ends were told")
        self.browser.press(self.browser.button(made[0], "remove"))
        self.browser.gone(f'.row[data-id="{made[0]}"]')
        self.browser.press(".toast [data-toast=action]")
        self.browser.until(lambda: self.browser.names() == ["back.bin", "other.bin"], "it is back, at its place")
        self.assertEqual([item["name"] for item in self.daemon.items()], ["back.bin", "other.bin"])
        said = lambda: self.browser.text("[data-live=polite]").strip()
        self.browser.until(lambda: said() == "It is back on the list", lambda: f"it is told, not {said()}")
        self.browser.one(".row").send_keys(Keys.CONTROL + "a" + Keys.NULL + Keys.DELETE)
        self.browser.until(lambda: self.browser.names() == [], "both are gone")
        self.browser.press(".toast [data-toast=action]")
        self.browser.until(lambda: said() == "2 downloads are back on the list", lambda: f"both are told, not {said()}")

    def test_clearing_failed_ones_says_that_those_with_data_stay(self):
        identifier = self.daemon.add(self.origin.file("200K", "wrong.bin"), checksum=f"sha-256:{'0' * 64}")
        self.browser.until_state(identifier, "failed")
        self.browser.press(".bar-tools [aria-haspopup=menu]")
        self.browser.js("[...document.querySelectorAll('.menu-item')].find(({ textContent }) => textContent === 'Clear failed ones').click()")
        self.browser.until(lambda: "1 download with downloaded data stays" in self.browser.text(".toasts"), "it is said")
        self.browser.row(identifier)

    def test_undo_stays_where_it_is_while_others_end(self):
        [gone] = self.finished("gone.bin")
        made = [self.daemon.add(self.origin.file("10K", f"late-{number}.bin"), startsPaused=True) for number in range(9)]
        self.browser.until(lambda: len(self.browser.all('.row[data-state="paused"]')) == 9, "they are listed")
        # However long this machine takes, Undo is still there.
        self.browser.js("const real = setTimeout; window.setTimeout = (run, time) => real(run, time === 8000 ? 800_000 : time)")
        self.browser.press(self.browser.button(gone, "remove"))
        place = lambda: self.browser.one(".toast [data-toast=action]").rect
        before = place()
        for identifier in made:
            self.daemon.call("POST", f"/downloads/{identifier}/resume")
            self.browser.until_state(identifier, "completed")
        self.browser.until(lambda: "10 downloads complete" in self.browser.text(".toasts") or "9 downloads complete" in self.browser.text(".toasts"), "they are counted")
        self.assertEqual(place(), before)
        self.assertEqual(len(self.browser.all(".toast")), 2)
        self.browser.press(".toast [data-toast=action]")
        self.browser.row(gone)

    def test_a_removal_that_is_not_undone_reaches_the_daemon(self):
        made = self.finished("stays.bin", "goes.bin", "leaves.bin")
        self.browser.press(self.browser.button(made[1], "remove"))
        self.browser.until(lambda: made[1] not in [item["id"] for item in self.daemon.items()], "the daemon was told")
        # A page that is left tells it at once.
        self.browser.press(self.browser.button(made[2], "remove"))
        self.browser.gone(f'.row[data-id="{made[2]}"]')
        self.browser.driver.refresh()
        self.browser.until(lambda: [item["id"] for item in self.daemon.items()] == made[:1], "the daemon was told")
        self.assertTrue((self.daemon.downloads / "goes.bin").exists(), "the file stays")

    def test_the_same_link_is_added_again_while_its_removal_can_be_undone(self):
        [old] = self.finished("twice.bin")
        link = self.origin.file("10K", "twice.bin")
        # The answer to the removal comes late: the addition is sent after it.
        self.browser.js("""
            const real = window.fetch;
            window.fetch = async (path, options) => {
              const answer = await real(path, options);
              if (String(path).endsWith('/downloads/remove')) await new Promise((resolve) => setTimeout(resolve, 500));
              return answer;
            };""")
        self.browser.row(old).send_keys(Keys.DELETE)
        self.browser.gone(f'.row[data-id="{old}"]')
        self.browser.one(".add-field").send_keys(link + Keys.ENTER)
        self.browser.until(lambda: [item["id"] != old for item in self.daemon.items()] == [True], "another one in its place")
        [new] = [item["id"] for item in self.daemon.items()]
        self.browser.until_state(new, "completed")
        self.assertEqual(self.browser.all("[data-toast=action]"), [], "no Undo is left")
        self.assertNotIn("already", self.browser.text(".toasts"))

    def test_one_that_begins_again_elsewhere_is_not_removed(self):
        made = [self.daemon.add(self.origin.file("200K", f"again-{number}.bin", "rate=100M")) for number in range(2)]
        for identifier in made:
            self.browser.until_state(identifier, "completed")
        self.daemon.call("PATCH", "/settings", {"rateLimit": 20_000})
        self.browser.one(".row").send_keys(Keys.CONTROL + "a" + Keys.NULL + Keys.DELETE)
        self.browser.until(lambda: self.browser.names() == [], "both are hidden")
        self.daemon.call("POST", f"/downloads/{made[0]}/restart")
        self.browser.row(made[0])
        self.assertEqual(self.browser.names(), ["again-0.bin"])
        # The other one is removed when its time has come.
        self.browser.until(lambda: [item["id"] for item in self.daemon.items()] == made[:1], "the daemon was told")
        self.assertEqual(self.daemon.show(made[0])["state"], "downloading")
        self.browser.row(made[0])
        self.assertEqual(self.browser.all(".toast-warn"), [])
        # What nobody means any more has no Undo.
        self.daemon.call("POST", f"/downloads/{made[0]}/cancel")
        self.browser.until_state(made[0], "cancelled")
        self.browser.row(made[0]).send_keys(Keys.DELETE)
        self.browser.one(".toast [data-toast=action]")
        self.daemon.call("POST", f"/downloads/{made[0]}/restart")
        self.browser.row(made[0])
        self.browser.gone(".toast [data-toast=action]")

    def test_one_that_left_the_list_unseen_is_not_brought_back_by_undo(self):
        self.forgives = [r"net::ERR_", r"Failed to fetch"]
        made = self.finished("unseen.bin", "seen.bin")
        # However long this machine takes, the removal is not sent; and for a while the page reaches nobody.
        self.browser.js("""
            const realTimeout = setTimeout, real = window.fetch;
            window.setTimeout = (run, time) => realTimeout(run, time === 8000 ? 800_000 : time);
            window.fetch = async (...given) => {
              if (window.isCut) throw new TypeError('cut');
              return real(...given);
            };""")
        self.browser.row(made[0]).send_keys(Keys.DELETE)
        self.browser.one(".toast [data-toast=action]")
        self.browser.js("window.isCut = true")
        self.daemon.kill()
        self.browser.one(".lost")
        self.daemon.start()
        self.daemon.call("DELETE", f"/downloads/{made[0]}")
        self.browser.js("window.isCut = false")
        self.browser.gone(".lost")
        self.browser.gone(".toast [data-toast=action]")
        self.assertEqual(self.browser.names(), ["seen.bin"])

    def test_one_that_is_removed_elsewhere_at_the_same_time_is_no_failure(self):
        [made] = self.finished("both.bin")
        self.browser.js("""
            const real = window.fetch;
            window.fetch = async (path, options) => {
              if (!String(path).endsWith('/downloads/remove')) return real(path, options);
              await new Promise((go) => { window.release = go; });
              const answer = await real(path, options);
              setTimeout(() => { window.isAnswered = true; }, 300);
              return answer;
            };""")
        self.browser.row(made).send_keys(Keys.DELETE)
        self.browser.until(lambda: self.browser.js("return Boolean(window.release)"), "it is about to ask")
        self.daemon.call("DELETE", f"/downloads/{made}")
        self.browser.js("window.release()")
        self.browser.until(lambda: self.browser.js("return window.isAnswered === true"), "the answer is here")
        self.assertEqual(self.browser.all(".toast-warn"), [])
        self.assertEqual(self.browser.names(), [])

    def test_a_removal_asks_the_daemon_for_ended_ones_alone(self):
        [made] = self.finished("race.bin")
        self.browser.js("""
            const real = window.fetch;
            window.fetch = async (path, options) => {
              if (String(path).endsWith('/downloads/remove')) window.removal = JSON.parse(options.body);
              return real(path, options);
            };""")
        self.browser.row(made).send_keys(Keys.DELETE)
        self.browser.until(lambda: self.daemon.items() == [], "the daemon was told")
        self.assertEqual(self.browser.js("return window.removal"), {"ids": [made], "which": "all"})

    def test_the_keyboard_stays_in_the_list_when_its_row_goes(self):
        made = self.finished("1.bin", "2.bin", "3.bin")
        said = lambda: self.browser.js("return document.querySelector('[data-live=polite]').textContent")
        self.browser.until(lambda: "complete" in said(), "their ends were told")
        self.browser.js("arguments[0].focus()", self.browser.row(made[1]))
        ActionChains(self.browser.driver).send_keys(Keys.DELETE).perform()
        self.browser.until(lambda: self.focused() == made[2], "the next row has the focus")
        self.assertIn("2.bin", said())
        ActionChains(self.browser.driver).send_keys(Keys.DELETE).perform()
        self.browser.until(lambda: self.focused() == made[0], "at the end, the one before")
        ActionChains(self.browser.driver).send_keys(Keys.DELETE).perform()
        self.browser.until(
            lambda: self.browser.driver.switch_to.active_element.get_attribute("name") == "links", "at last, the field")

    def test_one_that_has_not_been_downloaded_is_asked_about(self):
        identifier = self.daemon.add(self.origin.file("10K", "kept.bin"), startsPaused=True)
        self.browser.until_state(identifier, "paused")
        self.browser.row(identifier).send_keys(Keys.DELETE)
        self.assertIn("kept.bin", self.browser.one("dialog.question").text)
        self.browser.driver.switch_to.active_element.click()
        self.assertEqual(len(self.daemon.items()), 1)

    def test_a_finished_file_is_not_fetched_again_without_a_question(self):
        [identifier] = self.finished("whole.bin")
        self.browser.press(self.browser.button(identifier, "restart"))
        self.assertIn("again", self.browser.one("dialog.question").text)
        self.browser.driver.switch_to.active_element.click()
        self.assertEqual(self.daemon.show(identifier)["state"], "completed")


class Menus(PageTest):
    def test_the_menu_of_a_row_is_inside_the_window_and_its_end_can_be_reached(self):
        made = [self.daemon.add(self.origin.file("10K", f"menu-{number}.bin")) for number in range(4)]
        for identifier in made:
            self.browser.until_state(identifier, "completed")
        for size in ((1366, 650), (390, 720, True, 2), (720, 390, True, 2), (640, 400), (320, 256)):
            with self.subTest(size):
                self.browser.set_size(*size)
                self.browser.js("arguments[0].scrollIntoView({block: 'center'})", self.browser.row(made[2]))
                self.browser.press(self.browser.button(made[2], "more"))
                inside = "const box = arguments[0].getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight"
                self.assertTrue(self.browser.js(inside, self.browser.one("[role=menu]")))
                ActionChains(self.browser.driver).send_keys(Keys.END).perform()
                last = self.browser.driver.switch_to.active_element
                self.assertEqual(last.get_attribute("data-action"), "removeFile")
                self.assertTrue(self.browser.js(inside, last), "the last one is seen")
                ActionChains(self.browser.driver).send_keys(Keys.ESCAPE).perform()
                self.browser.gone("[role=menu]")

    def test_a_right_click_opens_it(self):
        identifier = self.daemon.add(self.origin.file("10K", "right.bin"))
        self.browser.until_state(identifier, "completed")
        place = self.browser.one(self.browser.in_row(identifier, ".row-amount"))
        ActionChains(self.browser.driver).context_click(place).perform()
        menu = self.browser.one("[role=menu]")
        away = self.browser.js(
            "const [at, menu] = [...arguments].map((node) => node.getBoundingClientRect());"
            "return Math.abs(menu.left - (at.left + at.right) / 2)", place, menu)
        self.assertLess(away, 4, "it opens where the pointer is")
        self.browser.press("[role=menuitem][data-action=open]")
        self.browser.one("dialog.detail")

    def test_the_selected_ones_are_moved_and_changed_together(self):
        made = [self.daemon.add(self.origin.file("10K", f"{number}.bin"), startsPaused=True) for number in range(4)]
        for identifier in made[2:]:
            self.browser.press(self.browser.in_row(identifier, ".row-check"))

        def choose(label):
            self.browser.press(".selection [aria-haspopup=menu]")
            self.browser.until(
                lambda: next((found for found in self.browser.all("[role=menuitem]") if found.text == label), None), label).click()

        choose("Move to the top")
        self.browser.until(lambda: self.browser.names() == ["2.bin", "3.bin", "0.bin", "1.bin"], "they are first, in order")
        choose("Limit to 1 MB/s each")
        for identifier in made[2:]:
            self.until_api(identifier, lambda shown: shown.get("rateLimit") == 1_000_000, "its limit")

    def test_order_and_filter_are_remembered(self):
        made = [self.daemon.add(self.origin.file("10K", name), startsPaused=True) for name in ("b.bin", "a.bin")]
        self.browser.until(lambda: len(self.browser.all(".row")) == len(made), "rows")
        self.browser.press("[name=sort] option[value=name]")
        self.browser.press(".chip[data-filter=paused]")
        self.browser.driver.refresh()
        self.browser.until(lambda: self.browser.names() == ["a.bin", "b.bin"], "sorted by name")
        self.assertEqual(self.browser.one(".chip[data-filter=paused]").get_attribute("aria-pressed"), "true")
        self.assertEqual(self.browser.one("[name=sort]").get_attribute("value"), "name")

    def test_the_number_that_is_shown_is_told_to_readers(self):
        for name in ("x.bin", "y.bin"):
            self.daemon.add(self.origin.file("10K", name), startsPaused=True)
        self.browser.write("[name=search]", "x.b")
        self.browser.until(
            lambda: "1 download shown" in self.browser.js("return document.querySelector('[data-live=polite]').textContent"), "it is told")


class Density(PageTest):
    def test_low_rows_show_many_and_are_kept(self):
        entries = [
            {"urls": [self.origin.file("10K", f"low-{number:02}.bin")], "startsPaused": True} for number in range(60)
        ]
        self.daemon.call("POST", "/downloads", {"downloads": entries})
        failed = self.daemon.add(
            self.origin.file("10K", "a-name-of-some-length-that-failed.bin"), checksum=f"sha-256:{'0' * 64}")
        self.until_api(failed, lambda shown: shown["state"] == "failed", "it fails")
        self.browser.set_size(1440, 900)
        self.browser.until(lambda: self.browser.js("return document.documentElement.classList.contains('has-columns')"), "columns")
        high = lambda: self.browser.js("return document.querySelector('.row').getBoundingClientRect().height")
        roomy = high()
        self.browser.press(".density")
        self.browser.until(lambda: high() < roomy, "the rows are lower")
        self.assertLessEqual(high(), 40)
        self.assertGreaterEqual(high(), 32)
        # Nothing of a row stands over another part of it.
        crossing = """
            const row = document.querySelector(`.row[data-id="${arguments[0]}"]`);
            const boxes = [...row.querySelectorAll('.row-name, .row-reason, .row-amount, .row-state')]
                .filter((node) => node.textContent).map((node) => node.getBoundingClientRect());
            return boxes.some((a, i) => boxes.some((b, j) => j > i && a.left < b.right - 1 && b.left < a.right - 1));"""
        self.browser.js("document.querySelector('.row').scrollIntoView()")
        self.browser.press(".chip[data-filter=failed]")
        self.browser.until(lambda: len(self.browser.names()) == 1, "the failed one")
        self.assertFalse(self.browser.js(crossing, failed))
        self.browser.driver.refresh()
        self.browser.until(lambda: self.browser.all(".row") and high() <= 40, "it is kept")
        self.assertEqual(self.browser.one(".density").get_attribute("aria-pressed"), "true")


class Columns(PageTest):
    size = (1800, 900)

    def setUp(self):
        super().setUp()
        entries = [
            {"urls": [self.origin.file("10K", "one.zip")], "startsPaused": True, "label": "First", "priority": 1},
            {"urls": [self.origin.file("10K", "two-labelled.bin")], "startsPaused": True, "label": "Second"},
            {"urls": ["http://127.0.0.1:1/three.mp4"], "startsPaused": True, "label": "Second"},
        ]
        self.daemon.call("POST", "/downloads", {"downloads": entries})
        self.browser.until(lambda: len(self.browser.names()) == 3, "all rows")

    def shown(self, column):
        return self.browser.js("return document.querySelector(`.column-${arguments[0]}`).checkVisibility()", column)

    def choose(self, button, name):
        self.browser.press(button)
        self.browser.press(f"[role=menuitemcheckbox][data-action='{name}']")
        if self.browser.all("[role=menu]"):
            self.browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
            self.browser.gone("[role=menu]")

    def test_several_columns_are_chosen_in_one_menu(self):
        self.browser.press(".columns-choose")
        for name in ("label", "server", "label"):
            self.browser.press(f"[role=menuitemcheckbox][data-action='{name}']")
        checked = lambda name: self.browser.one(f"[role=menuitemcheckbox][data-action='{name}']").get_attribute("aria-checked")
        self.assertEqual((checked("label"), checked("server")), ("false", "true"))
        self.assertEqual((self.shown("label"), self.shown("server")), (False, True))

    def test_columns_are_chosen_and_kept(self):
        self.browser.one(".columns")
        self.assertEqual([self.shown(name) for name in ("size", "speed", "label")], [True, True, False])
        self.choose(".columns-choose", "label")
        self.choose(".columns-choose", "speed")
        self.choose(".columns-choose", "left")
        self.assertEqual([self.shown(name) for name in ("size", "speed", "label")], [True, False, True])
        self.assertEqual(self.browser.js("return [...document.querySelectorAll('.row-label')].map((cell) => cell.innerText).sort()"), ["First", "Second", "Second"])
        self.browser.driver.refresh()
        self.browser.one(".columns")
        self.browser.until(lambda: self.shown("label") and not self.shown("speed"), "they are kept")

    def test_a_cell_stands_below_its_head_and_figures_end_in_line(self):
        identifier = self.held(name="runs.bin")
        self.browser.until_state(identifier, "downloading")
        self.browser.until(lambda: "B/s" in self.browser.text(self.browser.in_row(identifier, ".row-speed")), "its speed")
        ends = self.browser.js("""
            const row = document.querySelector(`.row[data-id='${arguments[0]}']`);
            return [['amount', 'size'], ['speed', 'speed'], ['left', 'left'], ['percent', 'progress']].map(([cell, head]) => {
                const right = (node) => node.getBoundingClientRect().right;
                return [head, Math.round(right(row.querySelector(`.row-${cell}`)) - right(document.querySelector(`.column-${head}`)))];
            })""", identifier)
        self.assertEqual(ends, [["size", 0], ["speed", 0], ["left", 0], ["progress", 0]])
        self.assertEqual(self.browser.js("return getComputedStyle(document.querySelector('.row-speed')).textAlign"), "end")
        self.assertNotIn("left", self.browser.text(self.browser.in_row(identifier, ".row-left")))

    def test_a_narrower_window_leaves_out_the_last_columns(self):
        for name in ("server", "label", "priority"):
            self.choose(".columns-choose", name)
        self.browser.set_size(1480, 900)
        self.browser.until(lambda: not self.shown("added"), "the last one has no room")
        self.assertTrue(self.shown("size"))
        width = self.browser.js("return document.querySelector('.row-name').getBoundingClientRect().width")
        self.assertGreater(width, 150, "the name has room")

    def test_beside_details_the_name_has_room(self):
        self.browser.set_size(1920, 1080)
        self.browser.press(".row .row-name")
        self.browser.one("dialog.detail")
        self.browser.until(lambda: not self.shown("added"), "the last one has no room")
        width = self.browser.js("return document.querySelector('.row-name').getBoundingClientRect().width")
        self.assertGreater(width, 250)

    def test_the_list_is_filtered_by_label_server_and_type(self):
        self.choose(".facet-button", "label:Second")
        self.browser.until(lambda: sorted(self.browser.names()) == ["three.mp4", "two-labelled.bin"], "those of the label")
        self.assertEqual(self.browser.text(".chip[data-filter=all] .chip-count"), "2")
        self.choose(".facet-button", "type:video")
        self.browser.until(lambda: self.browser.names() == ["three.mp4"], "those of the type, too")
        self.browser.press(".facets [data-facet=label]")
        self.browser.press(".facets [data-facet=type]")
        self.browser.until(lambda: len(self.browser.names()) == 3, "all again")
        self.choose(".facet-button", "server:127.0.0.1:1")
        self.browser.until(lambda: self.browser.names() == ["three.mp4"], "those of the server")

    def test_each_word_of_a_search_is_found_and_counts_follow(self):
        self.browser.write("[name=search]", "labelled two")
        self.browser.until(lambda: self.browser.names() == ["two-labelled.bin"], "both words")
        self.assertEqual(self.browser.text(".chip[data-filter=paused] .chip-count"), "1")

    def test_what_is_not_shown_any_more_is_not_selected(self):
        self.browser.press(".chip[data-filter=paused]")
        for row in self.browser.all(".row-check"):
            row.click()
        self.assertEqual(self.browser.one(".selection-count").text, "3 selected")
        self.browser.press(".selection [data-action=resume]")
        self.browser.gone(".selection")
        self.browser.one(".chips")


class Thousands(PageTest):
    COUNT = 10_000

    def test_ten_thousand_stay_usable(self):
        entries = [
            {"urls": [self.origin.file("10K", f"entry-{number:05}.bin")], "startsPaused": True}
            for number in range(self.COUNT)
        ]
        for start in range(0, self.COUNT, 2500):
            self.daemon.call("POST", "/downloads", {"downloads": entries[start:start + 2500]})
        chip = ".chip[data-filter=all] .chip-count"
        self.browser.until(lambda: self.browser.text(chip) == "10,000", "all are counted")
        self.browser.driver.refresh()
        self.browser.until(lambda: self.browser.text(chip) == "10,000", "all are counted after a reload")
        self.assertEqual(self.browser.one("[role=grid]").get_attribute("aria-rowcount"), "10000")
        bounded = lambda: self.assertLess(len(self.browser.all(".row")), 60)
        bounded()
        self.browser.js("scrollTo(0, document.documentElement.scrollHeight)")
        self.browser.until(lambda: "entry-09999.bin" in self.browser.names(), "the last is there at the end")
        bounded()
        self.browser.js("scrollTo(0, document.documentElement.scrollHeight / 2)")
        self.browser.until(lambda: any("entry-050" in name or "entry-049" in name for name in self.browser.names()), "the middle")
        bounded()
        self.assertLess(self.browser.js("return document.querySelectorAll('*').length"), 3000)
        self.browser.js("scrollTo(0, 0)")
        self.browser.write("[name=search]", "entry-07777")
        self.browser.until(lambda: self.browser.names() == ["entry-07777.bin"], "it is found")
        identifier = self.browser.one(".row").get_attribute("data-id")
        self.browser.press(self.browser.button(identifier, "resume"))
        self.browser.until_state(identifier, "completed")
        self.browser.write("[name=search]", "")
        self.browser.until(lambda: len(self.browser.names()) > 5, "all are shown again")
        self.browser.one(".row").send_keys(Keys.END)
        self.browser.until(
            lambda: self.browser.driver.switch_to.active_element.get_attribute("aria-rowindex") == "10000",
            "the keyboard reaches the last one")
        self.browser.driver.switch_to.active_element.send_keys(Keys.CONTROL + "a")
        self.browser.until(lambda: self.browser.text(".selection-count") in ("10000 selected", "10,000 selected"), "all are selected")
        bounded()
