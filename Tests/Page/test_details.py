"""One download opened."""

import hashlib
import json
import urllib.request

from selenium.webdriver.common.keys import Keys

from case import PageTest

PANEL = "dialog.detail"


class Details(PageTest):
    def open(self, identifier):
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.browser.one(PANEL)

    def facts(self):
        return self.browser.js("""
            const facts = {};
            for (const term of document.querySelectorAll('dialog.detail .facts dt'))
              facts[term.textContent] = term.nextElementSibling.querySelector('bdi').textContent;
            return facts""")

    def test_ranges_speed_events_and_facts_are_shown(self):
        url = self.origin.file("20M", "opened.bin", "rate=500K&etag=shown-here")
        identifier = self.daemon.add(url, maxConnections=2, label="A label")
        self.browser.until_state(identifier, "downloading")
        self.open(identifier)
        self.browser.until(
            lambda: "of the file is here" in (self.browser.one(f"{PANEL} .map").get_attribute("aria-label") or ""), "the map")
        self.browser.until(lambda: "Connection" in self.browser.text(f"{PANEL} .legend"), "its connections")
        self.browser.until(
            lambda: "on average" in (self.browser.one(f"{PANEL} .graph").get_attribute("aria-label") or ""), "the graph")
        pixels = """
            const canvas = document.querySelector(arguments[0]);
            // A copy: Chromium warns of a canvas that is read often.
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
            copy.drawImage(canvas, 0, 0);
            const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
            return new Set(new Uint32Array(data.buffer)).size"""
        for canvas in ("map", "graph"):
            self.assertGreater(self.browser.js(pixels, f"{PANEL} .{canvas}"), 1, f"something is drawn as {canvas}")
        facts = self.browser.until(lambda: (lambda facts: facts if "Validator" in facts else None)(self.facts()), "the facts")
        self.assertEqual(facts["Source"], url)
        self.assertEqual(facts["Validator"], '"shown-here"')
        self.assertEqual(facts["Label"], "A label")
        self.assertEqual(facts["Identifier"], identifier)
        self.browser.until(lambda: self.browser.text(f"{PANEL} .events"), "events")

    def test_what_is_known_keeps_the_focus_while_it_runs(self):
        identifier = self.held(name="focused.bin")
        self.browser.until_state(identifier, "downloading")
        self.open(identifier)
        self.browser.until(lambda: "Validator" in self.facts(), "the facts")
        self.browser.js("window.reads = 0; const real = window.fetch; window.fetch = (...given) => { window.reads += 1; return real(...given); }")
        self.browser.js("document.querySelector('dialog.detail .facts button').focus()")
        self.browser.until(lambda: self.browser.js("return window.reads") >= 3, "it was read again")
        self.assertTrue(self.browser.js("return document.activeElement.closest('.facts') !== null"))

    def test_its_events_say_why_it_went_on(self):
        identifier = self.held(name="reasons.bin")
        # A checkpoint must have claimed something: else there is nothing to go on from.
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 800_000, "some bytes")
        self.open(identifier)
        self.browser.press(f"{PANEL} button[data-action=pause]")
        self.browser.until_state(identifier, "paused")
        self.browser.press(f"{PANEL} button[data-action=resume]")
        self.browser.until(lambda: self.browser.all(f"{PANEL} .event-resumed"), "the event")
        self.assertRegex(self.browser.text(f"{PANEL} .event-resumed"), r"(?i)resumed at .*ETag")
        # What the stream told and what the history keeps is the same.
        shown = self.browser.text(f"{PANEL} .events")
        texts = [event["texts"]["en"] for event in self.daemon.call("GET", f"/downloads/{identifier}/events")["items"]]
        for text in texts:
            self.assertEqual(shown.count(text), texts.count(text), text)

    def test_a_completed_one_shows_proof_and_path(self):
        identifier = self.daemon.add(self.origin.file("50K", "proven.bin", "etag=kept"))
        self.browser.until_state(identifier, "completed")
        self.open(identifier)
        facts = self.browser.until(lambda: (lambda facts: facts if "Proof" in facts else None)(self.facts()), "the proof")
        self.assertTrue(facts["Proof"].startswith("Single"), facts["Proof"])
        self.assertEqual(facts["Saved to"], str(self.daemon.downloads / "proven.bin"))
        self.assertEqual(facts["Validator"], '"kept"')
        self.assertFalse(any(found.is_displayed() for found in self.browser.all(f"{PANEL} .change")), "nothing to change")

    def test_how_a_listed_one_connects_is_changed_except_for_its_proxy(self):
        identifier = self.daemon.add(self.origin.file("30K", "changed.bin", "cookie=pass=yes"), startsPaused=True)
        self.open(identifier)
        self.unfold()
        self.browser.press(f"{PANEL} .section summary")
        self.assertIn("ferry set", self.browser.one(f"{PANEL} .section").text)
        for name in ("proxy", "certificates", "insecure"):
            self.assertEqual(self.browser.all(f"{PANEL} [name={name}]"), [], "the API refuses it here")
        self.browser.write(f"{PANEL} [name=stallTimeout]", "soon")
        self.browser.press(f"{PANEL} .change [type=submit]")
        self.assertIn("Seconds", self.browser.one(f"{PANEL} .field-stallTimeout .field-error").text)
        for name, text in {"stallTimeout": "20", "connectTimeout": "auto", "userAgent": "Tried/2", "cookies": "pass=yes", "label": "Tried"}.items():
            self.browser.write(f"{PANEL} [name={name}]", text)
        self.browser.press(f"{PANEL} [name=allowsPrivate] option[value=yes]")
        self.assertEqual(self.browser.one(f"{PANEL} .section summary").text, "Connection · 5")
        self.browser.press(f"{PANEL} .change [type=submit]")
        shown = self.until_api(identifier, lambda shown: shown.get("label") == "Tried", "it is changed")
        self.assertTrue(shown["allowsPrivate"])
        self.browser.until(lambda: self.browser.one(f"{PANEL} .section summary").text == "Connection", "nothing is left to save")
        self.assertEqual(self.browser.one(f"{PANEL} [name=cookies]").get_attribute("value"), "", "a secret does not stay")
        self.browser.press(f"{PANEL} button[data-action=resume]")
        self.browser.until_state(identifier, "completed")
        asked = json.loads(urllib.request.urlopen(f"{self.origin.base}/requests").read())["requests"]
        agents = [dict(request["fields"])["User-Agent"] for request in asked if "changed.bin" in request["target"]]
        self.assertEqual(set(agents), {"Tried/2"})

    def test_what_stands_in_an_empty_field_is_read_whole(self):
        self.open(self.held(startsPaused=True))
        for language, size in (("en", (1280, 800)), ("zh", (1280, 800)), ("zh", (390, 844)), ("en", (390, 844))):
            self.browser.set_size(1280, 800)
            self.browser.press(f"[name=language] option[value={language}]")
            self.browser.set_size(*size)
            self.unfold()
            cut, count = self.browser.js("""
                const pen = new OffscreenCanvas(1, 1).getContext('2d');
                for (const section of document.querySelectorAll('dialog.detail .section')) section.open = true;
                const fields = [...document.querySelectorAll('dialog.detail input[placeholder]')].filter((field) => field.checkVisibility());
                return [fields.filter((field) => {
                  const style = getComputedStyle(field);
                  const rim = ['paddingLeft', 'paddingRight', 'borderLeftWidth', 'borderRightWidth'].reduce((sum, name) => sum + parseFloat(style[name]), 0);
                  pen.font = style.font;
                  return pen.measureText(field.placeholder).width > field.offsetWidth - rim;
                }).map((field) => `${field.name}: ${field.placeholder}`), fields.length]""")
            self.assertEqual(cut, [], f"{language} {size}")
            self.assertGreater(count, 8)

    def test_an_expired_link_asks_for_a_new_one_and_takes_it(self):
        identifier = self.daemon.add(self.origin.file("30K", "expired.bin", "status=404"))
        self.browser.until(lambda: self.browser.state(identifier) in ("waiting", "failed"), "it cannot go on")
        self.open(identifier)
        self.browser.write(f"{PANEL} [name=urls]", self.origin.file("30K", "expired.bin"))
        self.browser.press(f"{PANEL} .change [type=submit]")
        self.browser.until_state(identifier, "completed")

    def test_a_web_page_in_place_of_a_file_can_be_accepted(self):
        identifier = self.daemon.add(self.origin.file("30K", "page.iso", "html"))
        self.browser.until_state(identifier, "waiting")
        self.open(identifier)
        self.browser.press(f"{PANEL} [name=acceptsHTML]")
        self.browser.press(f"{PANEL} .change [type=submit]")
        self.browser.until_state(identifier, "completed")
        self.assertTrue((self.daemon.downloads / "page.iso").read_bytes().startswith(b"<!doctype html>"))

    def test_the_box_for_a_web_page_is_shown_where_the_link_is_at_fault_alone(self):
        self.open(self.held())
        self.unfold()
        self.browser.one(f"{PANEL} .change [name=urls]")
        self.assertFalse(self.browser.js(
            "return document.querySelector('.detail [name=acceptsHTML]').checkVisibility()"))

    def test_without_a_validator_a_break_need_not_begin_from_zero(self):
        identifier = self.held("40M", "unproven.bin", "rate=400K&etag=none&lastmod=none")
        # A checkpoint must have claimed something: else there is nothing to go on from.
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 1_200_000, "some bytes")
        self.open(identifier)
        self.assertIn("begins from zero", self.browser.one(f"{PANEL} .unproven").text)
        self.browser.press(f"{PANEL} [data-action=resumesUnproven]")
        self.browser.gone(f"{PANEL} .unproven")
        kinds = lambda: [event["kind"] for event in self.daemon.call("GET", f"/downloads/{identifier}/events")["items"]]
        self.browser.until(lambda: "resumed" in kinds(), "it goes on from what is here")
        self.assertNotIn("restarted", kinds())
        self.daemon.call("POST", f"/downloads/{identifier}/cancel")

    def test_of_a_new_link_nothing_is_claimed_before_its_server_has_answered(self):
        identifier = self.held(name="moved.bin", query="rate=400K&etag=begun")
        # A checkpoint must have claimed something: else there is nothing to go on from.
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 1_200_000, "some bytes")
        self.open(identifier)
        self.browser.until(lambda: self.facts().get("Validator") == '"begun"', "that of the first link")
        silent = self.origin.file("40M", "moved.bin", "rate=400K&etag=begun&delay=600000")
        self.daemon.call("PATCH", f"/downloads/{identifier}", {"urls": [silent]})
        self.browser.until(lambda: self.facts().get("Source") == silent, "the new link")
        self.browser.until(lambda: "Validator" not in self.facts(), "nothing is known of its server")
        self.assertFalse(self.browser.js("return document.querySelector('dialog.detail .unproven').checkVisibility()"))
        self.browser.press(f"{PANEL} button[data-action=pause]")
        self.browser.until_state(identifier, "paused")
        self.assertEqual(self.browser.all("dialog.question"), [])

    def test_escape_and_going_back_close_it(self):
        identifier = self.daemon.add(self.origin.file("10K", "closed.bin"))
        self.browser.until_state(identifier, "completed")
        self.open(identifier)
        self.assertIn(f"#download={identifier}", self.browser.driver.current_url)
        self.browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.browser.gone(PANEL)
        self.assertNotIn("#", self.browser.driver.current_url)
        self.open(identifier)
        self.browser.driver.back()
        self.browser.gone(PANEL)
        # The address of one that is open opens it.
        self.browser.js("location.hash = arguments[0]", f"download={identifier}")
        self.browser.one(PANEL)
        self.browser.driver.refresh()
        self.browser.one(PANEL)

    def test_it_closes_when_the_download_is_removed_elsewhere(self):
        identifier = self.daemon.add(self.origin.file("10K", "removed.bin"))
        self.browser.until_state(identifier, "completed")
        self.open(identifier)
        self.daemon.call("DELETE", f"/downloads/{identifier}")
        self.browser.gone(PANEL)
        self.browser.one(".empty:not(.small)")

    def form_is_first(self):
        self.browser.one(PANEL)  # It opens after its address has changed, not at once.
        return self.browser.js("""
            const [form, history] = ['.need', '.part-events'].map((each) => document.querySelector(`dialog.detail ${each}`));
            return form.checkVisibility() && Boolean(form.compareDocumentPosition(history) & Node.DOCUMENT_POSITION_FOLLOWING)""")

    def assert_in_view(self, *selectors):
        hidden = self.browser.js("""
            const view = document.querySelector('dialog.detail .detail-body').getBoundingClientRect();
            return arguments[0].filter((selector) => {
                const { top, bottom } = document.querySelector(`dialog.detail .change ${selector}`).getBoundingClientRect();
                return top < view.top || bottom > view.bottom + 1;
            })""", selectors)
        self.assertEqual(hidden, [])

    def test_what_a_download_waits_for_is_in_view_with_its_button(self):
        members = self.daemon.add(self.origin.file("10K", "members.bin", "auth=basic:me:secret-word"))
        page = self.daemon.add(self.origin.file("30K", "page.iso", "html"))
        for size in ((1366, 707), (390, 700)):
            self.browser.set_size(*size)
            for identifier, field in ((members, "user"), (page, "urls")):
                self.browser.until_state(identifier, "waiting")
                self.browser.press(self.browser.in_row(identifier, ".main"))
                self.browser.one(PANEL)
                self.assertEqual(self.browser.driver.switch_to.active_element.get_attribute("name"), field)
                self.assert_in_view(".notice", f".field-{field} label", "[type=submit]")
                self.browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
                self.browser.gone(PANEL)

    def test_a_refused_password_is_said_where_it_is_asked_for(self):
        identifier = self.daemon.add(self.origin.file("10K", "members.bin", "auth=basic:me:secret-word"))
        self.browser.until(lambda: self.browser.one(self.browser.in_row(identifier, ".main")).text == "Sign in…", "its main button")
        self.browser.press(".chip[data-filter=needs]")
        self.assertEqual(self.browser.names(), ["members.bin"])
        self.browser.press(self.browser.button(identifier, "open"))
        self.assertTrue(self.form_is_first())
        self.assertEqual(self.browser.driver.switch_to.active_element.get_attribute("name"), "user")
        self.assertEqual(self.browser.one(f"{PANEL} .change [type=submit]").text, "Sign in")
        self.browser.write(f"{PANEL} [name=user]", "me")
        self.browser.write(f"{PANEL} [name=password]", "wrong" + Keys.ENTER)
        self.browser.until(lambda: "refused" in self.browser.text(f"{PANEL} .change .notice"), "it is said")
        self.browser.until(lambda: "refused" in self.browser.text(self.browser.in_row(identifier, ".row-reason")), "in the row too")
        # The name is here yet: what is missing is the password.
        focused = lambda: self.browser.driver.switch_to.active_element.get_attribute("name")
        self.browser.until(lambda: focused() == "password", lambda: f"the focus is on the password, not on {focused()}")
        self.assertEqual(self.browser.one(f"{PANEL} [name=user]").get_attribute("value"), "me")
        self.browser.write(f"{PANEL} [name=password]", "secret-word" + Keys.ENTER)
        self.until_api(identifier, lambda shown: shown["state"] == "completed", "it is complete")

    def test_a_web_page_in_place_of_the_file_is_named_and_has_its_form_at_the_top(self):
        identifier = self.daemon.add(self.origin.file("30K", "page.iso", "html"))
        self.browser.until_state(identifier, "waiting")
        self.browser.until(lambda: self.browser.one(self.browser.in_row(identifier, ".main")).text == "Choose…", "its main button")
        self.assertEqual(
            self.browser.text(self.browser.in_row(identifier, ".row-reason")),
            "the server sent a web page, not the file: often a sign-in form")
        self.browser.press(self.browser.button(identifier, "open"))
        self.assertTrue(self.form_is_first())
        notice = self.browser.one(f"{PANEL} .change .notice").text
        self.assertIn("sent a web page", notice)
        # Signing in with a browser helps at the sign-in of a network alone: a website's needs its cookies.
        for words in ("sign-in of the network", "cookies of your browser", "direct link"):
            self.assertIn(words, notice)
        self.assertNotIn("--", self.browser.text(f"{PANEL} .events"))
        for name in ("user", "password", "acceptsHTML"):
            self.browser.one(f"{PANEL} .change [name={name}]")
        # What is typed or pasted takes the place of the old link.
        field = self.browser.driver.switch_to.active_element
        self.assertEqual(field.get_attribute("name"), "urls")
        link = self.origin.file("30K", "page.iso")
        field.send_keys(link)
        self.assertEqual(field.get_attribute("value"), link)
        field.send_keys(link)
        self.assertEqual(self.browser.one(f"{PANEL} .change [type=submit]").text, "Try again")
        self.browser.press(f"{PANEL} .change [type=submit]")
        self.assertIn("valid download link", self.browser.one(f"{PANEL} .need .field-urls .field-error").text)
        self.browser.write(f"{PANEL} [name=urls]", link)
        self.browser.press(f"{PANEL} .change [type=submit]")
        self.browser.until_state(identifier, "completed")

    def test_who_signs_in_for_a_web_page_gets_the_file(self):
        self.set_scene("/file/30K/inside.iso?html")
        identifier = self.daemon.add(f"{self.origin.base}/scene/inside.iso")
        self.browser.until_state(identifier, "waiting")
        self.set_scene("/file/30K/inside.iso?auth=basic:me:secret-word")
        self.open(identifier)
        self.browser.write(f"{PANEL} [name=user]", "me")
        self.browser.write(f"{PANEL} [name=password]", "secret-word" + Keys.ENTER)
        self.browser.until_state(identifier, "completed")

    def set_scene(self, target):
        urllib.request.urlopen(f"{self.origin.base}/set/inside.iso?{target}").close()

    def test_the_focus_goes_back_to_the_row_of_the_download_that_was_shown(self):
        members = self.daemon.add(self.origin.file("10K", "members.bin", "auth=basic:me:secret-word"))
        others = [self.daemon.add(self.origin.file("10K", f"other-{number}.bin"), startsPaused=True) for number in range(30)]
        self.browser.until_state(members, "waiting")
        self.browser.press(self.browser.button(members, "open"))
        self.browser.write(f"{PANEL} [name=user]", "me")
        self.browser.write(f"{PANEL} [name=password]", "wrong" + Keys.ENTER)
        self.browser.until(lambda: "refused" in self.browser.text(f"{PANEL} .change .notice"), "it is refused")
        focused = "return document.activeElement.closest('.row')?.dataset.id ?? document.activeElement.tagName"
        self.assertTrue(self.browser.js("return document.activeElement.closest('dialog.detail') !== null"), self.browser.js(focused))
        self.assertEqual(self.browser.one(f"{PANEL} [name=user]").get_attribute("value"), "me")
        self.browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.assertEqual(self.browser.js(focused), members)
        # Of several that are opened one after another, it is the last.
        self.browser.js("scrollTo(0, 0)")
        self.open(others[0])
        self.browser.press(self.browser.in_row(others[1], ".row-name"))
        self.browser.until(lambda: "other-1" in self.browser.text(f"{PANEL} .detail-name"), "the other one")
        self.browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.assertEqual(self.browser.js(focused), others[1])

    def test_the_row_that_was_opened_stays_in_the_window(self):
        self.browser.set_size(1500, 800)
        for number in range(12):
            self.daemon.add(self.origin.file("10K", f"row-{number}.bin"), startsPaused=True)
        self.browser.until(lambda: len(self.browser.names()) == 12, "all rows")
        height = lambda: self.browser.js("return document.querySelector('.row').offsetHeight")
        before = height()
        lowest = self.browser.js("""
            return [...document.querySelectorAll('.row')].findLast((row) => row.getBoundingClientRect().bottom <= innerHeight).dataset.id""")
        self.browser.press(self.browser.in_row(lowest, ".row-name"))
        self.browser.until(lambda: height() > before, "the rows are higher")
        self.browser.until(lambda: self.browser.js("""
            const box = document.querySelector(`.row[data-id='${arguments[0]}']`).getBoundingClientRect();
            return box.top >= 0 && box.bottom <= innerHeight""", lowest), "it is seen whole")

    def test_what_limits_a_download_is_said_while_it_runs(self):
        identifier = self.held()
        self.browser.until_state(identifier, "downloading")
        self.open(identifier)
        limit = lambda: self.browser.text(f"{PANEL} .detail-limit")
        self.browser.until(lambda: "Speed limited: the server gives" in limit(), "the cause")
        self.assertRegex(limit(), r"gives [\d.]+ [KM]B/s to each connection$")
        self.daemon.call("POST", f"/downloads/{identifier}/pause")
        self.browser.until_state(identifier, "paused")
        self.browser.until(lambda: limit() == "", "nothing limits it any more")

    def test_a_refused_link_has_its_form_at_the_top_and_goes_on_with_another(self):
        identifier = self.daemon.add(self.origin.file("30K", "refused.bin", "status=403"))
        self.browser.until_state(identifier, "failed")
        self.open(identifier)
        self.assertTrue(self.form_is_first())
        self.browser.one(f"{PANEL} .change [name=user]")
        self.browser.write(f"{PANEL} [name=urls]", self.origin.file("30K", "refused.bin") + Keys.ENTER)
        self.browser.until_state(identifier, "completed")

    def test_a_link_to_another_file_is_asked_for_again_at_the_top(self):
        identifier = self.held(name="begun.bin")
        # A checkpoint must have claimed something: else there is nothing to go on from.
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 1_200_000, "some bytes")
        first = self.daemon.show(identifier)["url"]
        other = self.origin.file("40M", "begun.bin", "rate=400K&seed=2&etag=other")
        self.daemon.call("PATCH", f"/downloads/{identifier}", {"urls": [other]})
        self.browser.until_state(identifier, "failed")
        self.assertEqual(self.daemon.show(identifier)["error"]["phrase"][0], "otherFile")
        kept = self.daemon.show(identifier)["progress"]["completedBytes"]
        self.assertGreater(kept, 0)
        self.assertEqual(self.browser.one(self.browser.in_row(identifier, ".main")).text, "New link…")
        self.browser.press(self.browser.in_row(identifier, ".main"))
        self.assertTrue(self.form_is_first())
        self.assertIn("may lead to another file", self.browser.one(f"{PANEL} .need .notice").text)
        field = self.browser.driver.switch_to.active_element
        self.assertEqual((field.get_attribute("name"), field.get_attribute("value")), ("urls", ""))
        self.assertEqual(self.visible(".change"), ["urls"])
        self.assertEqual(self.browser.one(f"{PANEL} .need [type=submit]").text, "Try again")
        field.send_keys(first)
        self.assertEqual(self.browser.one(f"{PANEL} .need [type=submit]").text, "Use this link")
        field.send_keys(Keys.ENTER)
        self.browser.until_state(identifier, "downloading")
        self.assertEqual(self.daemon.show(identifier)["url"], first)
        resumed = lambda: [each["offset"] for each in self.daemon.call("GET", f"/downloads/{identifier}/events")["items"] if each["kind"] == "resumed"]
        self.browser.until(lambda: resumed()[-1:] == [kept], "the bytes that were here stay")
        self.browser.gone(f"{PANEL} .need")

    def test_what_another_file_says_is_not_told_of_the_one_that_was_begun(self):
        identifier = self.held(name="named.bin")
        self.until_api(identifier, lambda shown: shown["progress"]["completedBytes"] > 1_200_000, "some bytes")
        other = self.origin.file("30M", "other.bin", "rate=400K&seed=2&etag=none&lastmod=none")
        self.daemon.call("PATCH", f"/downloads/{identifier}", {"urls": [other]})
        self.browser.until_state(identifier, "failed")
        self.open(identifier)
        self.browser.until(lambda: "About this file" in self.browser.text(PANEL) and self.facts().get("Source"), "the details")
        self.assertFalse(self.browser.js("return document.querySelector('dialog.detail .unproven').checkVisibility()"))
        self.assertNotIn("names no version", self.browser.text(PANEL))

    def test_another_link_for_one_that_failed_is_tried_at_once(self):
        identifier = self.daemon.add(self.origin.file("30K", "failed.bin", "status=400"))
        self.browser.until_state(identifier, "failed")
        self.open(identifier)
        self.unfold()
        self.browser.write(f"{PANEL} [name=urls]", self.origin.file("30K", "failed.bin") + Keys.ENTER)
        self.browser.until_state(identifier, "completed")

    def test_a_failed_download_has_one_primary_button_and_a_typed_link_is_used(self):
        identifier = self.daemon.add(self.origin.file("30K", "gone.bin", "status=404"))
        self.browser.until_state(identifier, "failed")
        self.open(identifier)
        primary = lambda: [button.text for button in self.browser.all(f"{PANEL} .button.primary") if button.is_displayed()]
        self.assertEqual(primary(), ["Try again"])
        self.assertEqual(self.browser.all(f"{PANEL} .detail-buttons [data-action=resume]"), [])
        self.browser.press(f"{PANEL} .detail-head button")
        with open(f"{self.daemon.downloads}/there.bin", "w") as file:
            file.write("other")
        conflict = self.daemon.add(self.origin.file("30K", "there.bin"), onConflict="fail")
        self.browser.until_state(conflict, "failed")
        self.open(conflict)
        self.assertEqual(len(primary()), 1)
        self.browser.press(f"{PANEL} .need [name=onConflict] option[value=overwrite]")
        self.browser.press(f"{PANEL} .detail-buttons [data-action=resume]")
        self.browser.until_state(conflict, "completed")

    def visible(self, form):
        return self.browser.js("""
            return [...document.querySelectorAll(`dialog.detail ${arguments[0]} [name]`)].filter((field) => field.checkVisibility()).map((field) => field.name)""", form)

    def test_the_fields_that_matter_stand_above_the_history_and_all_others_are_folded(self):
        running = self.held(name="runs.bin")
        self.browser.until_state(running, "downloading")
        self.open(running)
        self.browser.until(lambda: self.browser.text(f"{PANEL} .events"), "its events")
        self.assertEqual(self.visible(".change"), [], "it needs nothing")
        self.unfold()
        self.assertIn("rateLimit", self.visible(".change"))
        self.browser.press(f"{PANEL} .detail-head button")
        for name, query, more, fields, label in (
            ("members.bin", "auth=basic:me:secret-word", {}, ["user", "password"], "Sign in"),
            ("gone.bin", "status=404", {}, ["urls"], "Try again"),
            ("refused.bin", "status=403", {}, ["urls", "user", "password"], "Try again"),
            ("wrong.bin", "", {"checksum": f"sha-256:{'0' * 64}"}, ["checksum"], "Use this checksum"),
            ("later.bin", "", {"notBefore": "2031-05-06T07:08:00Z"}, ["notBefore"], "Use this time"),
        ):
            with self.subTest(name):
                identifier = self.daemon.add(self.origin.file("10K", name, query), **more)
                self.browser.until(lambda: self.browser.state(identifier) in ("waiting", "failed"), "it needs something")
                self.browser.until(lambda: self.daemon.show(identifier).get("waitReason") != "slot", "it was tried")
                self.open(identifier)
                self.browser.until(lambda: self.visible(".change") == fields, lambda: f"{fields}, not {self.visible('.change')}")
                self.assertEqual(self.browser.one(f"{PANEL} .need [type=submit]").text, label)
                self.assertTrue(self.form_is_first())
                self.browser.press(f"{PANEL} .detail-head button")

    def test_the_time_of_the_start_is_shown_and_changed(self):
        identifier = self.daemon.add(self.origin.file("10K", "later.bin"), notBefore="2031-05-06T07:08:00Z")
        self.browser.until_state(identifier, "waiting")
        self.open(identifier)
        field = self.browser.one(f"{PANEL} .need [name=notBefore]")
        self.assertEqual(
            self.browser.js("return new Date(arguments[0].value).toISOString()", field), "2031-05-06T07:08:00.000Z")
        self.browser.js("arguments[0].value = ''; arguments[0].dispatchEvent(new Event('input'))", field)
        self.browser.press(f"{PANEL} .need [type=submit]")
        self.browser.until_state(identifier, "completed")

    def test_the_time_of_the_start_of_a_paused_one_is_shown_and_changed(self):
        identifier = self.daemon.add(self.origin.file("10K", "later.bin"), startsPaused=True)
        reason = self.browser.in_row(identifier, ".row-reason")
        self.browser.until_state(identifier, "paused")
        self.assertEqual(self.browser.text(reason), "")
        self.daemon.call("PATCH", f"/downloads/{identifier}", {"notBefore": "2031-05-06T07:08:00Z"})
        self.browser.until(lambda: self.browser.text(reason).startswith("does not start before "), "when it may start")
        self.open(identifier)
        self.unfold()
        field = self.browser.one(f"{PANEL} .part-change [name=notBefore]")
        self.assertEqual(
            self.browser.js("return new Date(arguments[0].value).toISOString()", field), "2031-05-06T07:08:00.000Z")
        self.browser.js("arguments[0].value = ''; arguments[0].dispatchEvent(new Event('input'))", field)
        self.browser.press(f"{PANEL} .part-change [type=submit]")
        self.browser.until(lambda: self.browser.text(reason) == "", "it may start at any time")
        self.assertNotIn("notBefore", self.daemon.show(identifier))

    def test_what_would_fail_again_is_not_to_be_tried_again_later(self):
        identifier = self.daemon.add(self.origin.file("10K", "strict.bin", "close"), strict=True)
        self.browser.until_state(identifier, "failed")
        self.open(identifier)
        reason = self.browser.one(f"{PANEL} .detail-reason").text
        self.assertIn("Give the checksum of the file", reason)
        self.assertNotIn("later", reason)

    def test_one_for_which_there_is_room_beside_the_reserve_goes_on_with_a_smaller_one(self):
        self.addCleanup(self.daemon.call, "PATCH", "/settings", {"minFreeBytes": None})
        self.daemon.call("PATCH", "/settings", {"minFreeBytes": 10**15})
        identifier = self.daemon.add(self.origin.file("20K", "reserve.bin"))
        reason = self.browser.in_row(identifier, ".row-reason")
        self.browser.until(lambda: "missing" in self.browser.text(reason), "how much is missing")
        self.assertIn("free some space: it then continues by itself", self.browser.text(reason))
        self.open(identifier)
        self.assertIn("continues by itself", self.browser.one(f"{PANEL} .detail-reason").text)
        self.assertTrue(self.form_is_first())
        self.assertEqual(self.visible(".change"), ["minFreeBytes"])
        self.browser.write(f"{PANEL} .need [name=minFreeBytes]", "0")
        self.assertEqual(self.browser.one(f"{PANEL} .need [type=submit]").text, "Keep this free")
        self.browser.press(f"{PANEL} .need [type=submit]")
        self.browser.until_state(identifier, "completed")

    def test_any_answer_that_is_no_file_has_a_form_for_another_link(self):
        for name, query in (("bad.bin", "status=400"), ("legal.bin", "status=451"), ("nothing.bin", "status=204")):
            with self.subTest(query):
                identifier = self.daemon.add(self.origin.file("10K", name, query))
                self.browser.until_state(identifier, "failed")
                self.open(identifier)
                self.browser.until(lambda: self.visible(".change") == ["urls", "user", "password"], "its fields")
                self.browser.press(f"{PANEL} .detail-head button")

    def test_the_offer_to_compare_samples_leaves_the_focus_in_the_panel(self):
        identifier = self.held(name="unproven.bin", query="rate=400K&etag=none&lastmod=none")
        self.browser.until_state(identifier, "downloading")
        self.open(identifier)
        self.browser.one(f"{PANEL} [data-action=resumesUnproven]").send_keys(Keys.ENTER)
        self.browser.gone(f"{PANEL} [data-action=resumesUnproven]")
        self.browser.until(
            lambda: self.browser.js("return document.activeElement.closest('dialog.detail') !== null"), "the focus is in the panel")

    def test_a_file_that_is_too_large_is_taken_with_another_limit(self):
        self.browser.write(".add-field", self.origin.file("20K", "large.bin"))
        self.browser.press(".options-toggle")
        self.browser.one(".options [name=name]")
        self.browser.js("document.querySelector('.options [name=maxBytes]').value = '10 KB'")
        self.browser.press(".add-button")
        identifier = self.browser.until(lambda: self.daemon.named("large.bin"), "it is listed")["id"]
        self.browser.until_state(identifier, "failed")
        self.assertEqual(self.browser.one(self.browser.in_row(identifier, ".main")).text, "Choose…")
        self.browser.press(self.browser.in_row(identifier, ".main"))
        self.browser.one(PANEL)
        self.assertNotIn("later", self.browser.one(f"{PANEL} .detail-reason").text)
        self.assertEqual(self.browser.one(f"{PANEL} .need [name=maxBytes]").get_attribute("value"), "10 KB")
        self.browser.write(f"{PANEL} .need [name=maxBytes]", "1 MB")
        self.browser.press(f"{PANEL} .need [type=submit]")
        self.browser.until_state(identifier, "completed")

    def test_closing_asks_before_it_discards_what_was_changed(self):
        identifier = self.daemon.add(self.origin.file("10K", "edited.bin"), startsPaused=True)
        self.open(identifier)
        self.unfold()
        self.browser.write(f"{PANEL} [name=label]", "Typed")
        self.browser.press(f"{PANEL} .detail-head button")
        self.assertIn("Label", self.browser.one("dialog.question").text)
        self.browser.driver.switch_to.active_element.click()
        self.browser.gone("dialog.question")
        self.assertEqual(self.browser.one(f"{PANEL} [name=label]").get_attribute("value"), "Typed")
        # What is shown may be asked for at the moment of the removal.
        self.forgives = [rf"/downloads/{identifier} .*404"]
        self.daemon.call("DELETE", f"/downloads/{identifier}")
        self.browser.gone(PANEL)
        self.browser.until(lambda: "edited.bin was removed elsewhere" in self.browser.text(".toasts"), "it is said")

    def test_another_row_and_going_back_ask_before_they_discard_what_was_typed(self):
        first, second = (self.daemon.add(self.origin.file("10K", name), startsPaused=True) for name in ("first.bin", "second.bin"))
        self.open(first)
        self.unfold()
        self.browser.write(f"{PANEL} [name=label]", "Typed")
        leave = {
            "another row": lambda: self.browser.press(self.browser.in_row(second, ".row-name")),
            "going back": self.browser.driver.back,
        }
        for name, run in leave.items():
            with self.subTest(name):
                run()
                self.assertIn("Label", self.browser.one("dialog.question").text)
                self.browser.driver.switch_to.active_element.click()
                self.browser.gone("dialog.question")
                self.assertEqual(self.browser.one(f"{PANEL} [name=label]").get_attribute("value"), "Typed")
                self.assertEqual(self.browser.driver.switch_to.active_element.get_attribute("name"), "label")
                self.assertEqual(self.browser.text(f"{PANEL} .detail-name"), "first.bin")
                self.assertTrue(self.browser.driver.current_url.endswith(first))
        leave["another row"]()
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until(lambda: self.browser.text(f"{PANEL} .detail-name") == "second.bin", "the other one")

    def test_a_file_that_was_changed_since_is_said_to_be_another(self):
        identifier = self.daemon.add(self.origin.file("20K", "swapped.bin"))
        self.browser.until_state(identifier, "completed")
        path = self.daemon.downloads / "swapped.bin"
        path.write_text("another")
        self.addCleanup(path.unlink)  # The daemon deletes no file of somebody else.
        self.forgives = [rf"/downloads/{identifier}/content .*409"]
        self.open(identifier)
        reason = lambda: self.browser.text(f"{PANEL} .detail-reason")
        self.browser.until(lambda: "is no longer the file that was downloaded. Restart" in reason(), reason)

    def test_a_file_that_was_deleted_since_is_not_said_to_be_there(self):
        identifier = self.daemon.add(self.origin.file("20K", "deleted.bin"))
        self.browser.until_state(identifier, "completed")
        (self.daemon.downloads / "deleted.bin").unlink()
        self.forgives = [rf"/downloads/{identifier}/content .*500"]
        self.open(identifier)
        self.browser.until(lambda: "gone or changed" in self.browser.text(f"{PANEL} .detail-reason"), "it is said")
        self.browser.until(lambda: "gone or changed" in self.browser.text(self.browser.in_row(identifier, ".row-reason")), "the row says so too")
        for selector in ("[data-action=save]", ".part-map"):
            self.browser.gone(f"{PANEL} {selector}")
        self.browser.press(f"{PANEL} .detail-buttons [data-action=restart]")
        self.browser.press("dialog.question [data-answer=yes]")
        self.browser.until(lambda: (self.daemon.downloads / "deleted.bin").exists(), "it is fetched again")
        self.browser.until(lambda: "File saved to" in self.browser.text(f"{PANEL} .detail-reason"), "it is there")

    def test_a_file_is_saved_by_the_browser(self):
        folder = self.daemon.folder / "saved"
        folder.mkdir(exist_ok=True)
        self.browser.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        self.addCleanup(self.browser.cdp, "Browser.setDownloadBehavior", behavior="deny")
        identifier = self.daemon.add(self.origin.file("300K", "taken home.bin"))
        self.browser.until_state(identifier, "completed")
        self.open(identifier)
        self.browser.press(f"{PANEL} [data-action=save]")
        saved = folder / "taken home.bin"
        self.browser.until(lambda: saved.exists() and saved.stat().st_size == 300_000, "it is saved")
        self.assertEqual(saved.read_bytes(), self.origin.bytes(300_000))
        self.assertFalse(self.browser.all(".toast-warn"))
        # The address is none that the page was opened with: the page stays.
        self.browser.one(PANEL)

    def test_equal_events_are_one_line(self):
        identifier = self.daemon.add(self.origin.file("10K", "folded.bin"), startsPaused=True)
        broke = lambda second: {
            "kind": "note", "date": f"2026-01-01T00:00:0{second}Z", "phrase": ["connectionBroke", "reset"],
            "texts": {"en": "a connection broke: reset", "zh": "一个连接中断：reset"}}
        note = {"kind": "note", "date": "2026-01-01T00:00:09Z", "texts": {"en": "something else"}}
        said = self.browser.module(
            "history", "it.folded(arguments[0]).map(({ text, since, date }) => [text, since, date])",
            [broke(1), broke(2), broke(3), note, note, broke(4)])
        self.assertEqual([text for text, _, _ in said], [
            "a connection broke: reset", "something else (2 times)", "3 connections broke: reset"])
        self.assertEqual(said[2][1:], ["2026-01-01T00:00:01Z", "2026-01-01T00:00:03Z"])
        self.daemon.call("DELETE", f"/downloads/{identifier}")

    def test_breaks_that_went_on_are_one_line(self):
        identifier = self.daemon.add(self.origin.file("10K", "breaks.bin"), startsPaused=True)
        self.open(identifier)
        event = lambda kind, second, text, phrase: {
            "kind": kind, "date": f"2026-01-01T00:00:0{second}Z", "phrase": phrase, "texts": {"en": text}}
        broke = lambda second: event("retrying", second, f"Trying again in 0.{second}s", ["connectionClosed", "h"])
        went_on = lambda second: event("resumed", second, f"Resumed at {second} MB", ["tagMatched", "t"])
        lines = self.browser.module(
            "history", "it.folded(arguments[0]).map(({ text, since, date }) => [text, since.slice(-3), date.slice(-3)])",
            [broke(1), went_on(2), broke(3), went_on(4), event("retrying", 5, "The server is busy", ["busy"]), went_on(6), broke(7)])
        self.assertEqual(lines, [
            ["Trying again in 0.7s", "07Z", "07Z"], ["Resumed at 6 MB", "06Z", "06Z"], ["The server is busy", "05Z", "05Z"],
            ["Resumed at 4 MB", "04Z", "04Z"], ["Trying again in 0.3s (2 times)", "01Z", "03Z"]])

    def test_a_long_history_is_short_at_first(self):
        identifier = self.daemon.add(self.origin.file("10K", "paused.bin"), startsPaused=True)
        self.daemon.call("PATCH", "/settings", {"maxConcurrentDownloads": 1})
        self.browser.until_state(self.held(), "downloading")
        for _ in range(6):
            self.daemon.call("POST", f"/downloads/{identifier}/resume")
            self.daemon.call("POST", f"/downloads/{identifier}/pause")
        self.browser.until_state(identifier, "paused")
        self.open(identifier)
        self.browser.until(lambda: len(self.browser.all(f"{PANEL} .event")) == 5, "five of them")
        self.browser.press(f"{PANEL} .events-more")
        self.browser.until(lambda: len(self.browser.all(f"{PANEL} .event")) > 5, "all of them")
        self.browser.gone(f"{PANEL} .events-more")

    def test_both_digests_of_a_mismatch_are_short_and_copied_whole(self):
        identifier = self.mismatched("digests.bin")
        self.assertNotRegex(self.browser.text(self.browser.in_row(identifier, ".row-reason")), r"[0-9a-f]{20}")
        self.open(identifier)
        rows = self.browser.until(lambda: self.browser.all(f"{PANEL} .need .digests dd"), "both")
        digest = hashlib.sha256(self.origin.bytes(200_000)).hexdigest()
        self.assertEqual([row.text for row in rows], ["sha-256=00000000…000000", f"sha-256={digest[:8]}…{digest[-6:]}"])
        self.browser.js("window.copied = []; navigator.clipboard.writeText = async (text) => { window.copied.push(text); }")
        self.browser.all(f"{PANEL} .need .digests button")[1].click()
        self.browser.until(lambda: self.browser.js("return window.copied") == [f"sha-256={digest}"], "the whole digest")
        self.assertNotRegex(self.browser.text(PANEL), r"[0-9a-f]{64}")

    def mismatched(self, name):
        identifier = self.daemon.add(self.origin.file("200K", name), checksum=f"sha-256:{'0' * 64}")
        self.browser.until_state(identifier, "failed")
        return identifier

    def test_a_wrong_checksum_is_corrected_and_what_is_here_stays(self):
        identifier = self.mismatched("typo.bin")
        self.open(identifier)
        self.assertTrue(self.form_is_first())
        self.assertNotIn("--checksum", self.browser.one(f"{PANEL} .detail-reason").text, "advice for a terminal")
        digest = hashlib.sha256(self.origin.bytes(200_000)).hexdigest()
        self.browser.write(f"{PANEL} [name=checksum]", f"sha-256:{digest}")
        self.browser.press(f"{PANEL} .change [type=submit]")
        self.browser.until_state(identifier, "completed")
        self.assertEqual(self.daemon.show(identifier)["proof"], "digest")
        events = [event["texts"]["en"] for event in self.daemon.call("GET", f"/downloads/{identifier}/events")["items"]]
        self.assertFalse(any("from zero" in text for text in events), events)

    def test_a_file_with_another_checksum_is_not_thrown_away_without_a_question(self):
        identifier = self.mismatched("again.bin")
        # What can be done about it is chosen in the details; to fetch all of it once more is one of the ways.
        self.assertEqual(self.browser.one(self.browser.in_row(identifier, ".main")).text, "Choose…")
        self.browser.press(self.browser.in_row(identifier, ".main"))
        self.browser.one(f"{PANEL} [data-action=keepFile]")
        self.assertEqual(self.browser.one(f"{PANEL} .detail-buttons [data-action=resume]").text, "Restart")
        self.browser.press(f"{PANEL} .detail-buttons [data-action=resume]")
        self.assertIn("200.0 KB will be deleted", self.browser.one("dialog.question").text)
        self.browser.driver.switch_to.active_element.click()
        self.browser.gone("dialog.question")
        self.assertEqual(self.daemon.show(identifier)["state"], "failed")

    def test_what_is_not_known_is_left_out(self):
        identifier = self.daemon.add(self.origin.file("10K", "unknown.bin"), startsPaused=True)
        self.browser.until_state(identifier, "paused")
        self.assertNotRegex(self.browser.row(identifier).text, r"--|\?")
        self.open(identifier)
        self.browser.until(lambda: "Identifier" in self.facts(), "the facts")
        for part in (".figure", ".part-map", ".part-graph"):
            self.assertFalse(any(found.is_displayed() for found in self.browser.all(f"{PANEL} {part}")), part)
        self.assertNotIn("--", self.browser.one(PANEL).text)
        self.browser.press(f"{PANEL} .detail-head button")

    def test_a_completed_one_tells_its_average_and_its_time(self):
        self.daemon.call("PATCH", "/settings", {"rateLimit": 400_000})
        identifier = self.daemon.add(self.origin.file("600K", "took.bin"))
        self.browser.until_state(identifier, "completed")
        self.open(identifier)
        figures = lambda: self.browser.text(f"{PANEL} .figures-grid")
        self.browser.until(lambda: "B/s" in figures(), "its average")
        self.assertIn("Time taken", figures())
        self.assertNotIn("--", figures())

    def test_a_server_that_asks_who_one_is_gets_an_answer(self):
        identifier = self.daemon.add(self.origin.file("10K", "members.bin", "auth=basic:me:secret-word"))
        self.browser.until_state(identifier, "waiting")
        self.browser.until(
            lambda: self.browser.text(self.browser.in_row(identifier, ".row-reason")) == "the server asks for a user name and password", "why it waits")
        self.open(identifier)
        said = self.browser.one(f"{PANEL} .need .notice").text
        self.assertEqual(said, "The server asks for a user name and password.", "nothing was received that could be kept")
        self.assertEqual(
            self.browser.module("text", "it.t('change.credentials.needed', { isBegun: true })"), f"{said} What was received is kept.")
        self.browser.write(f"{PANEL} [name=user]", "me")
        self.assertEqual(self.browser.one(f"{PANEL} [name=password]").get_attribute("type"), "password")
        self.browser.write(f"{PANEL} [name=password]", "secret-word")
        self.browser.press(f"{PANEL} .change [type=submit]")
        self.browser.until_state(identifier, "completed")
        kept = "return [...document.querySelectorAll('input')].map((input) => input.value).concat(Object.values({...localStorage}))"
        self.browser.until(lambda: "secret-word" not in self.browser.js(kept), "the page has forgotten it")
