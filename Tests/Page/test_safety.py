"""What servers, files and users say is text in the page, and never runs."""

import urllib.parse

from case import PageTest

EVIL = "<img src=x onerror=window.ran.push(1)>"


def query_of(values):
    return urllib.parse.urlencode(values, quote_via=urllib.parse.quote)


class Safety(PageTest):
    def assertNothingRan(self):
        self.assertEqual(self.browser.js("return window.ran"), [])
        self.assertEqual(self.browser.js("return document.querySelectorAll('img:not([src=\"mark.svg\"]), iframe, object, embed, base').length"), 0)
        self.assertEqual(
            self.browser.js("return [...document.querySelectorAll('*')].filter((node) => node.getAttributeNames().some((name) => /^on/.test(name))).length"), 0)
        self.assertEqual(
            self.browser.js("return [...document.querySelectorAll('[href]')].filter((node) => /^\\s*(javascript|data):/i.test(node.getAttribute('href'))).length"), 0)

    def shown(self, identifier, selector):
        return self.browser.js("return document.querySelector(arguments[0])?.textContent", self.browser.in_row(identifier, selector))

    def test_a_server_that_names_its_file_as_markup(self):
        query = query_of({
            "disposition": f'attachment; filename="{EVIL}"', "rawetag": f'"{EVIL}"'.replace(" ", "_"),
            "type": f"text/{EVIL}", "rate": "400K",
        })
        identifier = self.daemon.add(self.origin.file("10M", "x.bin", query), label=EVIL, maxConnections=1)
        self.browser.until(lambda: "onerror" in (self.shown(identifier, ".row-name") or ""), "the name has come")
        # On the disk a name has no angle brackets: what the daemon lists is what is shown.
        self.assertEqual(self.shown(identifier, ".row-name"), self.daemon.show(identifier)["name"])
        self.assertNothingRan()
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        self.browser.until(lambda: EVIL in self.browser.text("dialog.detail .facts"), "label, type and validator as text")
        self.browser.until(lambda: self.browser.text("dialog.detail .events"), "its events")
        self.assertNothingRan()

    def test_a_file_that_the_user_names_as_markup_is_shown_as_it_is(self):
        identifier = self.daemon.add(self.origin.file("20K", "plain.bin"), name=EVIL)
        self.browser.until_state(identifier, "completed")
        self.assertEqual(self.shown(identifier, ".row-name"), EVIL)
        self.assertIn(EVIL, self.shown(identifier, ".row-reason"))
        self.assertEqual(
            self.browser.one(self.browser.in_row(identifier, ".row-check")).get_attribute("aria-label"), f"Select {EVIL}")
        said = "return document.querySelector('[data-live=polite]').textContent"
        self.browser.until(lambda: EVIL in self.browser.js(said), "it is announced as text")
        self.browser.press(self.browser.button(identifier, "more"))
        self.browser.one("[role=menu]")
        self.assertNothingRan()
        self.browser.press("[role=menuitem][data-action=removeFile]")
        self.assertIn(EVIL, self.browser.one("dialog.question").text)
        self.assertNothingRan()

    def test_an_error_that_quotes_a_server_is_shown_as_it_is(self):
        query = query_of({"field": f"X-Note: {EVIL}", "html": "1"})
        failed = self.daemon.add(self.origin.file("10K", EVIL.replace(" ", "%20"), query))
        self.browser.until(lambda: self.browser.state(failed) in ("failed", "waiting", "completed"), "it has an answer")
        self.browser.press(self.browser.in_row(failed, ".row-name"))
        self.browser.one("dialog.detail")
        self.assertNothingRan()

    def test_the_address_of_the_page_runs_nothing(self):
        self.browser.js("location.hash = arguments[0]", f"download={EVIL}")
        self.browser.js("location.hash = arguments[0]", "download=javascript:window.ran.push(2)")
        self.browser.until(lambda: "#" not in self.browser.driver.current_url, "what is not listed leaves the address")
        self.assertNothingRan()

    def test_no_script_can_be_put_in_even_by_its_own_hands(self):
        """Shows that the policy holds: if one line forgot to write text, nothing would run."""
        self.forgives = [r"policy: ", r"Content.Security.Policy|Trusted"]
        self.browser.js("""
            const box = document.createElement('div');
            document.body.append(box);
            try { box.innerHTML = arguments[0]; } catch { /* refused: it is no trusted type */ }
            const script = document.createElement('script');
            try { script.textContent = 'window.ran.push(3)'; } catch { /* refused as well */ }
            box.append(script);
            const button = document.createElement('button');
            button.setAttribute('data-plain', 'yes');
            box.append(button);""", EVIL)
        self.browser.until(lambda: any("policy" in fault or "Trusted" in fault for fault in self.seen()), "the policy has said no")
        self.assertEqual(self.browser.js("return window.ran"), [])

    def seen(self):
        return self.browser.js("return window.faults")
