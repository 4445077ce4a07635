"""By keyboard and by screen reader, on a desk and on a phone, in light and in dark."""

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from case import PageTest

# Roles of things that one uses: each must have a name.
USED = {
    "button", "checkbox", "combobox", "ComboBoxSelect", "dialog", "alertdialog", "grid", "image", "img", "link", "menu", "menuitem",
    "progressbar", "ProgressIndicator", "searchbox", "searchBox", "SearchBox", "spinbutton", "SpinButton", "switch",
    "textbox", "textField", "TextField", "row",
}


class Access(PageTest):
    def tree(self):
        """What a screen reader is given: `[(role, name)]`."""
        nodes = self.browser.cdp("Accessibility.getFullAXTree")["nodes"]
        return [
            (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes
            if not node.get("ignored") and "role" in node]

    def assertAllNamed(self):
        used = [(role, name) for role, name in self.tree() if role in USED]
        self.assertGreater(len(used), 5)
        self.assertEqual([role for role, name in used if not name.strip()], [], "used, and without a name")

    def press_key(self, *keys):
        ActionChains(self.browser.driver).send_keys(*keys).perform()

    def focused(self, attribute):
        return self.browser.driver.switch_to.active_element.get_attribute(attribute)

    def test_all_that_is_used_has_a_role_and_a_name(self):
        runs, done = self.held(name="named.bin"), self.daemon.add(self.origin.file("10K", "done.bin"))
        self.browser.until_state(runs, "downloading")
        self.browser.until_state(done, "completed")
        self.assertAllNamed()
        roles = {role for role, _ in self.tree()}
        for landmark in ("banner", "main", "form", "grid", "row", "gridcell"):
            self.assertIn(landmark, roles)
        self.assertIn(("button", "Pause: named.bin"), self.tree())
        self.assertIn(("checkbox", "Select done.bin"), self.tree())
        bar = self.browser.one(self.browser.in_row(runs, "[role=progressbar]"))
        self.assertEqual(bar.get_attribute("aria-label"), "Progress of named.bin")
        self.assertIn("Downloading…", bar.get_attribute("aria-valuetext"))
        self.browser.press(".options-toggle")
        self.browser.press(self.browser.in_row(runs, ".row-name"))
        self.browser.until(lambda: self.browser.text("dialog.detail .facts"), "the details")
        self.assertAllNamed()
        self.assertIn(("dialog", "named.bin"), self.tree())
        self.press_key(Keys.ESCAPE)
        self.browser.press(self.browser.button(runs, "more"))
        self.browser.one("[role=menu]")
        self.assertAllNamed()

    def test_ends_are_told_to_screen_readers(self):
        regions = self.browser.js(
            """
            return [...document.querySelectorAll('[aria-live]')]
              .map((node) => [node.getAttribute('aria-live'), node.getAttribute('role')])""")
        self.assertEqual(sorted(regions), [["assertive", "alert"], ["polite", "status"]])

    def test_the_page_is_used_by_keyboard_alone(self):
        self.browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        self.assertEqual(self.focused("className"), "skip", "the first stop skips to the list")
        self.press_key("n")
        self.assertEqual(self.focused("name"), "links")
        self.press_key(self.origin.file("40M", "first.bin", "rate=400K"), Keys.ENTER)
        first = self.browser.until(lambda: self.daemon.named("first.bin"), "it was added")["id"]
        self.press_key(self.origin.file("10K", "second.bin"), Keys.ENTER)
        second = self.browser.until(lambda: self.daemon.named("second.bin"), "it was added")["id"]
        self.browser.until_state(first, "downloading")
        self.browser.until_state(second, "completed")
        self.browser.until(lambda: self.browser.names() == ["first.bin", "second.bin"], "both have rows")
        stops = 0
        while self.focused("role") != "row":
            self.press_key(Keys.TAB)
            stops += 1
            self.assertLess(stops, 40, "the list is reached by Tab")
        self.press_key(Keys.HOME)
        self.assertEqual(self.focused("data-id"), first)
        self.press_key("p")
        self.browser.until_state(first, "paused")
        self.press_key("p")
        self.browser.until_state(first, "downloading")
        # Whoever pauses goes to the end of the queue; the focus goes with the row, and readers find the same order.
        self.browser.until(lambda: self.browser.names() == ["second.bin", "first.bin"], "the order of the queue")
        self.assertEqual(self.focused("data-id"), first)
        self.assertEqual([row.get_attribute("data-id") for row in self.browser.all(".row")], [second, first])
        self.press_key(Keys.ARROW_UP)
        self.assertEqual(self.focused("data-id"), second)
        self.press_key(Keys.SPACE)
        self.assertEqual(self.browser.one(".selection-count").text, "1 selected")
        self.press_key(Keys.ESCAPE)
        self.browser.gone(".selection")
        self.press_key(Keys.ENTER)
        self.browser.one("dialog.detail")
        self.press_key(Keys.ESCAPE)
        self.browser.gone("dialog.detail")
        self.assertEqual(self.focused("data-id"), second, "the focus is where it was")
        self.press_key(Keys.DELETE)
        self.browser.gone(f'.row[data-id="{second}"]')
        self.browser.one(self.browser.in_row(first, ".row-name"))
        self.browser.row(first).send_keys("c")
        self.browser.one("dialog.question")
        self.press_key(Keys.TAB, Keys.ENTER)
        self.browser.until_state(first, "cancelled")

    def test_shortcuts_are_listed_and_can_be_turned_off(self):
        self.press_key("?")
        self.assertIn("Add a link", self.browser.one("dialog.keys").text)
        self.browser.press("dialog.keys input[type=checkbox]")
        self.press_key(Keys.ESCAPE)
        self.browser.gone("dialog.keys")
        self.press_key("n")
        self.assertNotEqual(self.focused("name"), "links")

    def test_typing_is_no_shortcut(self):
        self.browser.one(".add-field").send_keys("n?/p")
        self.assertEqual(self.browser.one(".add-field").get_attribute("value"), "n?/p")
        self.assertEqual(self.browser.all("dialog.keys"), [])

    def test_the_focus_can_be_seen(self):
        self.press_key(Keys.TAB, Keys.TAB)
        seen = self.browser.js("""
            const style = getComputedStyle(document.activeElement);
            return [document.activeElement.tagName, style.outlineStyle, parseFloat(style.outlineWidth)]""")
        self.assertNotEqual(seen[0], "BODY")
        self.assertNotEqual(seen[1], "none")
        self.assertGreaterEqual(seen[2], 1)

    def contrast(self, selector, of="color"):
        """Between the words of something, or its border, and what is behind them."""
        return self.browser.js("""
            const parse = (text) => text.match(/[\\d.]+/g).map(Number);
            const light = ([r, g, b]) => {
              const [x, y, z] = [r, g, b].map((value) => value / 255)
                .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
              return 0.2126 * x + 0.7152 * y + 0.0722 * z;
            };
            const [selector, property] = arguments;
            const node = document.querySelector(selector);
            let behind = property === 'color' ? node : node.parentElement;
            while (behind && parse(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
            const [a, b] = [light(parse(getComputedStyle(node)[property])), light(parse(getComputedStyle(behind ?? document.documentElement).backgroundColor))];
            return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)""", selector, of)

    def test_light_and_dark_are_chosen_and_kept(self):
        ground = lambda: self.browser.js("return getComputedStyle(document.documentElement).backgroundColor")
        light = ground()
        for theme in ("light", "dark"):
            self.browser.press(".theme-button")
            self.assertIn(theme, self.browser.one(".theme-button").get_attribute("aria-label"))
        dark = ground()
        self.assertNotEqual(dark, light)
        self.browser.driver.refresh()
        self.browser.one(".theme-button")
        self.assertEqual(ground(), dark)

    def test_a_message_does_not_swallow_the_clicks_on_what_is_under_it(self):
        made = [self.daemon.add(self.origin.file("10K", f"under-{number}.bin")) for number in range(12)]
        for identifier in made:
            self.until_api(identifier, lambda shown: shown["state"] == "completed", "it is complete")
        # In one step: the next message may take this one's place.
        hit = self.browser.until(lambda: self.browser.js("""
            const box = document.querySelector('.toast-text')?.getBoundingClientRect();
            if (!box?.width) return null;
            return document.elementFromPoint(box.x + 10, box.y + 5).closest('.toast') ? 'the message' : 'what is under it'"""), "a message")
        self.assertEqual(hit, "what is under it")

    def test_fields_have_an_edge_that_can_be_seen(self):
        made = self.daemon.add(self.origin.file("10K", "edge.bin"))
        self.browser.until_state(made, "completed")
        self.browser.press(".options-toggle")
        for scheme in ("light", "dark"):
            self.browser.set_scheme(scheme)
            for selector in (".limit-field", ".stepper", ".search-field", ".sort-field", ".options [name=name]"):
                self.assertGreaterEqual(self.contrast(selector, "borderTopColor"), 3, f"{selector} in {scheme} (WCAG 1.4.11)")

    def test_progress_and_switch_can_be_seen_where_the_user_chooses_the_colours(self):
        made = self.daemon.add(self.origin.file("10K", "contrast.bin"))
        self.browser.until_state(made, "completed")
        self.browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
        colour = lambda selector: self.browser.js("return getComputedStyle(document.querySelector(arguments[0])).backgroundColor", selector)
        self.assertNotEqual(colour(".bar-fill"), colour(".bar"))
        self.assertNotEqual(colour("[role=switch][aria-checked=true] .knob"), colour("[role=switch][aria-checked=true]"))
        on = colour("[role=switch]")
        self.browser.press("[role=switch]")
        self.browser.until(lambda: colour("[role=switch]") != on, "off looks another way than on")

    def test_the_ranges_can_be_told_apart_where_the_user_chooses_the_colours(self):
        identifier = self.held(name="ranges.bin")
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 0, "some bytes")
        self.daemon.call("POST", f"/downloads/{identifier}/pause")
        self.browser.until_state(identifier, "paused")
        self.browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        colours = lambda: self.browser.js("""
            const canvas = document.querySelector('dialog.detail .map');
            if (!canvas?.width) return 0;
            // A copy: Chromium warns of a canvas that is read often.
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
            copy.drawImage(canvas, 0, 0);
            const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
            const seen = new Set();
            for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) seen.add(data.slice(at, at + 3).join());
            return seen.size""")
        self.browser.until(lambda: colours() > 1, "what is here and what is missing look different")

    def test_what_the_user_does_is_told_and_what_changes_by_itself_is_not(self):
        identifier = self.held(name="spoken.bin")
        self.browser.until_state(identifier, "downloading")
        self.assertEqual(self.browser.js("return document.querySelectorAll('output').length"), 0, "an output is a live region")
        said = lambda: self.browser.js("return document.querySelector('[data-live=polite]').textContent")
        self.browser.row(identifier).send_keys("p")
        self.browser.until(lambda: "spoken.bin: paused" in said(), "that it was paused")
        self.browser.row(identifier).send_keys("p")
        self.browser.until(lambda: "spoken.bin: resumed" in said(), "that it goes on")
        # The bar tells state, percent and amount: a row that told them in words too would tell them twice.
        words = [name for role, name in self.tree() if role in ("StaticText", "InlineTextBox")]
        self.assertFalse([word for word in words if word.endswith("%") or " / 40.0 MB" in word], words)

    def test_names_begin_at_the_left_and_their_ends_are_seen(self):
        names = ["ملف-طويل.bin", "a-very-long-name-" * 12 + "part-01.bin", "short.bin"]
        made = [self.daemon.add(self.origin.file("10K", f"{number}.bin"), name=name) for number, name in enumerate(names)]
        for identifier, name in zip(made, names):
            self.browser.until_state(identifier, "completed")
            self.assertEqual(self.browser.js("return arguments[0].textContent", self.browser.one(self.browser.in_row(identifier, ".row-name"))), name)
        left = lambda identifier: self.browser.js("""
            const range = document.createRange();
            range.selectNodeContents(arguments[0]);
            return Math.round(range.getBoundingClientRect().left)""", self.browser.one(self.browser.in_row(identifier, ".row-name")))
        self.assertEqual(left(made[0]), left(made[2]))
        tail, row = (self.browser.js("return arguments[0].getBoundingClientRect().right", self.browser.one(self.browser.in_row(made[1], part)))
                     for part in (".name-tail", ".row-name"))
        self.assertLessEqual(tail, row + 1, "the end of a long name is inside its row")

    def test_words_are_readable_in_light_and_in_dark(self):
        made = self.daemon.add(self.origin.file("10K", "read.bin"))
        self.browser.until_state(made, "completed")
        backgrounds = {}
        for scheme in ("light", "dark"):
            self.browser.set_scheme(scheme)
            backgrounds[scheme] = self.browser.js("return getComputedStyle(document.documentElement).backgroundColor")
            for selector in (".row-name", ".row-state", ".row-reason", ".row-percent", ".total-label", ".chip"):
                self.assertGreaterEqual(self.contrast(selector), 4.5, f"{selector} in {scheme}")
        self.assertNotEqual(backgrounds["light"], backgrounds["dark"])


class Phone(PageTest):
    size = (390, 844, True, 2)

    def test_nothing_is_wider_than_the_screen(self):
        name = "a-very-long-name-" * 8 + ".bin"
        runs = self.held(name=name[-120:])
        failed = self.daemon.add(self.origin.file("10K", "failed.bin"), checksum=f"sha-256:{'0' * 64}")
        self.browser.until_state(runs, "downloading")
        self.browser.until_state(failed, "failed")
        fits = lambda width=390: self.assertLessEqual(self.browser.js("return document.documentElement.scrollWidth"), width)
        fits()
        self.browser.press(".options-toggle")
        self.browser.press(".totals-toggle")
        fits()
        self.browser.press(self.browser.in_row(runs, ".row-name"))
        self.browser.until(lambda: self.browser.text("dialog.detail .facts"), "the details")
        fits()
        self.assertLessEqual(
            self.browser.js("const body = document.querySelector('.detail-body'); return body.scrollWidth - body.clientWidth"), 0)
        self.assertTrue(self.browser.js("return document.querySelector('.shell').inert"), "what is covered cannot be reached")
        # 1280 pixels at 400 %.
        self.browser.set_size(320, 640, True, 2)
        fits(320)
        self.browser.press("dialog.detail .detail-head .icon-button")
        fits(320)
        card = lambda: self.browser.js("""
            const { left, right } = document.querySelector('.add').getBoundingClientRect();
            return [...document.querySelectorAll('.options :is(input, select, textarea, p, summary)')].filter((node) => node.checkVisibility())
              .filter((node) => node.getBoundingClientRect().left < left || node.getBoundingClientRect().right > right)
              .map((node) => node.name ?? node.className)""")
        self.browser.js("for (const section of document.querySelectorAll('.options .section')) section.open = true")
        self.assertEqual(card(), [], "the options are inside of their card")

    def test_a_message_with_a_button_is_read_whole(self):
        for number in range(8):
            self.daemon.add(self.origin.file("10K", f"above-{number}.bin"), startsPaused=True)
        for width in (390, 320):
            self.browser.set_size(width, 640, True, 2)
            self.browser.write(".add-field", self.origin.file("40M", f"added-{width}.bin", "rate=400K") + Keys.ENTER)
            self.browser.one(".toast [data-toast=action]")
            self.assertEqual(self.browser.one(".toast:has([data-toast]) .toast-text").text, "Added 1 download")
            room, needed, wide = self.browser.js("""
                const text = document.querySelector('.toast:has([data-toast]) .toast-text p');
                return [text.clientHeight, text.scrollHeight, text.clientWidth]""")
            self.assertGreaterEqual(room + 1, needed, "no line is cut")
            self.assertGreater(wide, width / 2)
            self.browser.press(".toast:has([data-toast]) .icon-button")
            self.browser.gone(".toast")

    def test_fingers_can_hit_the_buttons(self):
        runs = self.held(name="touched.bin")
        self.browser.until_state(runs, "downloading")
        small = self.browser.js("""
            return [...document.querySelectorAll('button, input, select, textarea')]
              .filter((node) => node.checkVisibility() && !node.closest('.row-pick'))
              .map((node) => [node.className, node.getBoundingClientRect()])
              .filter(([, box]) => box.width > 0 && (box.width < 24 || box.height < 24)).map(([name]) => name)""")
        self.assertEqual(small, [], "smaller than 24 pixels (WCAG 2.5.8)")
        self.browser.press(self.browser.button(runs, "pause"))
        self.browser.until_state(runs, "paused")
