"""Adding: one link, many, options; what is no link is said at once."""

import hashlib

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from case import PageTest
from servers import Listener, Origin, forward

FIELD = ".add-field"
ERROR = ".add .field-error:not([hidden])"
CONNECTION = ".options .section:has([name=proxy]) summary"
FILE = ".options .section:has([name=label]) summary"


class Adding(PageTest):
    def test_one_link_is_added_by_the_enter_key_and_completes(self):
        self.browser.write(FIELD, self.origin.file("300K", "one.bin") + Keys.ENTER)
        item = self.browser.until(lambda: self.daemon.named("one.bin"), "it is on the daemon's list")
        self.browser.until_state(item["id"], "completed")
        self.assertEqual(self.browser.one(FIELD).get_attribute("value"), "")
        self.assertEqual((self.daemon.downloads / "one.bin").read_bytes(), self.origin.bytes(300_000))
        self.assertEqual(
            self.browser.text(self.browser.in_row(item["id"], ".row-reason")),
            f"File saved to: {self.daemon.downloads / 'one.bin'}")
        self.assertEqual(self.browser.text(self.browser.in_row(item["id"], ".row-percent")), "100.0%")

    def test_many_links_are_added_at_once(self):
        names = [f"many-{number}.bin" for number in range(5)]
        links = [self.origin.file("10K", name) for name in names]
        self.browser.write(FIELD, (Keys.SHIFT + Keys.ENTER + Keys.NULL).join(links))
        self.assertEqual(self.browser.one(".add-button").text, "Add 5")
        self.browser.press(".add-button")
        self.browser.until(lambda: len(self.browser.all('.row[data-state="completed"]')) == 5, "all five are complete")
        self.assertEqual(self.browser.names(), names)

    def hold_requests(self):
        """Holds what the page sends until `requests_go`."""
        self.browser.js("""
            const send = window.fetch;
            const gate = new Promise((open) => { window.openGate = open; });
            window.fetch = async (...request) => {
              if (request[1]?.method === 'POST') await gate;
              return send(...request);
            };""")

    def requests_go(self):
        self.browser.js("window.openGate()")

    def test_what_is_typed_while_another_is_sent_stays(self):
        self.hold_requests()
        self.browser.write(FIELD, self.origin.file("10K", "sent.bin") + Keys.ENTER)
        self.browser.one(".add-button[aria-disabled=true]")
        typed = self.origin.file("10K", "typed.bin")
        self.browser.one(FIELD).send_keys(typed)
        self.requests_go()
        self.browser.until(lambda: self.daemon.named("sent.bin"), "it was added")
        self.browser.until(lambda: self.browser.one(FIELD).get_attribute("value") == typed, "the other is still there")
        self.browser.one(FIELD).send_keys(Keys.ENTER)
        self.browser.until(lambda: self.browser.names() == ["sent.bin", "typed.bin"], "both are listed")

    def test_enter_while_another_is_sent_adds_the_next_after_it(self):
        self.hold_requests()
        self.browser.write(FIELD, self.origin.file("10K", "sent.bin") + Keys.ENTER)
        self.browser.one(".add-button[aria-disabled=true]")
        self.browser.one(FIELD).send_keys(self.origin.file("10K", "next.bin") + Keys.ENTER)
        self.requests_go()
        self.browser.until(lambda: self.browser.names() == ["sent.bin", "next.bin"], "both are listed")
        self.assertEqual(self.browser.one(FIELD).get_attribute("value"), "")

    def test_the_same_link_twice_is_one_download(self):
        link = self.origin.file("10K", "twice.bin")
        self.browser.write(FIELD, (Keys.SHIFT + Keys.ENTER + Keys.NULL).join([link, self.origin.file("10K", "other.bin"), link]))
        self.assertEqual(self.browser.one(".add-button").text, "Add 2")
        self.browser.press(".add-button")
        self.browser.until(lambda: len(self.browser.all('.row[data-state="completed"]')) == 2, "both are complete")
        self.assertEqual(self.browser.names(), ["twice.bin", "other.bin"])

    def test_what_was_added_beside_a_listed_one_is_said(self):
        known = self.daemon.add(self.origin.file("10K", "known.bin"))
        self.browser.until_state(known, "completed")
        links = [self.origin.file("10K", name) for name in ("new-1.bin", "known.bin", "new-2.bin")]
        self.browser.write(FIELD, (Keys.SHIFT + Keys.ENTER + Keys.NULL).join(links) + Keys.ENTER)
        self.browser.until(
            lambda: "Added 2 downloads. 1 other was on the list already" in self.browser.text(".toasts"), "both are told")
        self.assertEqual(self.browser.names(), ["known.bin", "new-1.bin", "new-2.bin"])
        self.browser.write(FIELD, links[1] + Keys.ENTER)
        self.browser.until(lambda: "It is on the list already" in self.browser.text(".toasts"), "that one alone is no news")

    def list_of(self, text):
        """Puts a list into the field, as a paste does."""
        self.browser.js("""
            arguments[0].value = arguments[1];
            arguments[0].dispatchEvent(new Event('input'))""", self.browser.one(FIELD), text)
        return self.browser.one(FIELD)

    def test_an_option_that_nobody_knows_is_named_with_its_line_until_that_is_dismissed(self):
        digest = hashlib.sha256(self.origin.bytes(10_000)).hexdigest()
        first, second = (self.origin.file("10K", name) for name in ("first.bin", "second.bin"))
        self.list_of(f"{first}\n  chksum=sha-256:{digest}\n{second}\n  out=other.bin\n  splitt=4\n  chksum=none").send_keys(Keys.ENTER)
        said = "Unknown options were left out: chksum (line 2), splitt (line 5)"
        toast = self.browser.until(
            lambda: next((found for found in self.browser.all(".toast") if said in found.text), None), "they are named")
        self.browser.until(lambda: len(self.browser.all('.row[data-state="completed"]')) == 2, "both are complete")
        self.browser.until(lambda: "download complete" in self.browser.text("[data-live=polite]"), "their ends are told")
        # Other messages do not take its place, and it is read whole.
        for number in range(5):
            self.daemon.add(self.origin.file("10K", f"more-{number}.bin"))
        self.browser.until(lambda: len(self.browser.all('.row[data-state="completed"]')) == 7, "more are complete")
        room, needed = self.browser.js("const text = arguments[0].querySelector('p'); return [text.clientHeight, text.scrollHeight]", toast)
        self.assertGreaterEqual(room + 1, needed)
        self.browser.gone(".toast-check")
        self.assertTrue(toast.is_displayed(), "it stays")
        self.browser.press(".toast[data-stays] .icon-button")
        self.browser.gone(".toast")

    def test_an_option_with_a_wrong_value_is_named_by_its_own_line(self):
        self.forgives = [r"/api/v1/downloads .*400"]
        first, second = (self.origin.file("10K", name) for name in ("first.bin", "second.bin"))
        self.list_of(f"{first}\n{second}\n  out=other.bin\n  checksum=sha-256:12").send_keys(Keys.ENTER)
        self.assertRegex(self.browser.one(ERROR).text, "^Line 4: a sha-256 checksum")
        self.list_of(f"{second}\n  checksum=sha-256:12").send_keys(Keys.ENTER)
        self.browser.until(lambda: self.browser.one(ERROR).text.startswith("Line 2: "), "also of one link")
        self.assertEqual(self.daemon.items(), [])

    def test_the_button_keeps_the_focus_when_it_adds(self):
        self.browser.write(FIELD, self.origin.file("10K", "one.bin"))
        self.browser.one(".add-button").send_keys(Keys.ENTER)
        self.browser.until(lambda: self.browser.all('.row[data-state="completed"]'), "it is complete")
        self.assertIn("add-button", self.browser.driver.switch_to.active_element.get_attribute("class"))

    def test_what_is_no_link_is_said_while_it_is_typed(self):
        field = self.browser.write(FIELD, "htt")
        self.assertEqual(self.browser.all(ERROR), [], "a link may still become of it")
        field.send_keys("x")
        self.assertEqual(self.browser.one(ERROR).text, "Enter a valid download link")
        self.assertEqual(field.get_attribute("aria-invalid"), "true")
        self.assertIn(
            self.browser.one(ERROR).get_attribute("id"), field.get_attribute("aria-describedby"))
        field.send_keys(Keys.ENTER)
        self.assertEqual(self.daemon.items(), [])
        self.browser.write(FIELD, "http://localhost/ok")
        self.browser.gone(ERROR)
        self.assertIsNone(field.get_attribute("aria-invalid"))

    def test_of_another_scheme_it_is_said_which_ones_there_are(self):
        said = "Only http and https links can be downloaded."
        for link in ("ftp://localhost/a.bin", "magnet:?xt=urn:btih:0"):
            self.browser.write(FIELD, link)
            self.assertEqual(self.browser.one(ERROR).text, said)
            self.assertEqual([hint for hint in self.browser.all(".add-hint") if hint.is_displayed()], [], "once")
        good = self.origin.file("10K", "good.bin")
        self.browser.write(FIELD, (Keys.SHIFT + Keys.ENTER + Keys.NULL).join([good, "ftp://old", good]))
        self.assertEqual(self.browser.one(".add-hint").text, said, "of several, the line is named first")
        # The same is said where a link is changed.
        gone = self.daemon.add(self.origin.file("10K", "gone.bin", "status=404"))
        self.browser.until_state(gone, "failed")
        self.browser.press(self.browser.in_row(gone, ".row-name"))
        self.browser.write("dialog.detail [name=urls]", "ftp://localhost/a.bin")
        self.browser.press("dialog.detail .need [type=submit]")
        self.assertEqual(self.browser.one("dialog.detail .field-urls .field-error").text, said)
        self.browser.write("dialog.detail [name=urls]", "nowhere")
        self.browser.press("dialog.detail .need [type=submit]")
        self.assertEqual(self.browser.one("dialog.detail .field-urls .field-error").text, "Enter a valid download link")

    def test_what_is_wrong_with_a_name_is_said_beside_it(self):
        self.browser.write(FIELD, self.origin.file("10K", "good.bin"))
        self.browser.press(".options-toggle")
        for name, said in {
            "a/b": "the name “a/b” cannot be used: it contains “/”", "..": "the name “..” cannot be used: it is a directory",
            ".a": "the name “.a” cannot be used: it begins with a dot, which hides it",
        }.items():
            self.browser.write(".options [name=name]", name)
            self.browser.press(".add-button")
            self.browser.until(lambda: self.browser.text(".options .field-name .field-error") == said, said)
            self.assertEqual(self.browser.driver.switch_to.active_element.get_attribute("name"), "name")
        self.forgives = [r"/api/v1/downloads .*40[03]"]
        self.assertEqual(self.daemon.items(), [])

    def test_the_line_that_is_no_link_is_named_and_none_is_added(self):
        good = self.origin.file("10K", "good.bin")
        self.browser.write(FIELD, (Keys.SHIFT + Keys.ENTER + Keys.NULL).join([good, "ftp://old", good]))
        self.assertEqual(self.browser.one(ERROR).text, "Line 2 is not a download link: ftp://old")
        self.assertEqual(self.browser.one(".add-button").text, "Download")
        self.browser.press(".add-button")
        # One behind the other are two.
        self.browser.write(FIELD, good + good + Keys.ENTER)
        self.browser.one(ERROR)
        self.assertEqual(self.daemon.items(), [])
        self.browser.write(FIELD, f"https://archive.example/web/{good}")
        self.browser.gone(ERROR)

    def test_a_start_in_the_past_is_said_and_adds_nothing(self):
        self.browser.write(FIELD, self.origin.file("10K", "late.bin"))
        self.browser.press(".options-toggle")
        self.browser.js("document.querySelector('.options [name=notBefore]').value = '2020-01-01T00:00'")
        self.browser.press(".add-button")
        self.assertEqual(self.browser.one(".options .field-error").text, "That time has passed")
        self.assertEqual(self.daemon.items(), [])

    def test_an_empty_field_is_said_when_it_is_sent(self):
        self.browser.press(".add-button")
        self.assertEqual(self.browser.one(ERROR).text, "Enter a valid download link")

    def test_that_the_field_is_empty_is_not_said_any_more_when_something_else_is_done(self):
        for other in (".options-toggle", ".help-button"):
            self.browser.press(".add-button")
            self.browser.one(ERROR)
            self.browser.press(other)
            self.browser.gone(ERROR)
            self.assertIsNone(self.browser.one(FIELD).get_attribute("aria-invalid"))

    def test_the_enter_key_in_an_option_adds_and_goes_back_to_the_field(self):
        self.browser.write(FIELD, self.origin.file("10K", "served.bin"))
        self.browser.press(".options-toggle")
        self.browser.write(".options [name=name]", "entered.bin" + Keys.ENTER)
        self.browser.until(lambda: self.daemon.named("entered.bin"), "it is listed")
        self.browser.gone(".options")
        self.assertEqual(self.browser.driver.switch_to.active_element.get_attribute("name"), "links")

    def test_options_reach_the_download(self):
        digest = hashlib.sha256(self.origin.bytes(20_000)).hexdigest()
        self.browser.write(FIELD, self.origin.file("20K", "served.bin", "cookie=pass=yes"))
        self.browser.press(".options-toggle")
        for name, text in {
            "name": "chosen.bin", "directory": "a/b", "checksum": f"sha-256:{digest}", "rateLimit": "5 MB/s",
            "maxConnections": "2", "headers": "Cookie: pass=yes",
        }.items():
            self.browser.write(f".options [name={name}]", text)
        self.browser.press(".add-button")
        item = self.browser.until(lambda: self.daemon.named("chosen.bin"), "it has the name that was chosen")
        self.browser.until_state(item["id"], "completed")
        shown = self.daemon.show(item["id"])
        self.assertEqual((shown["rateLimit"], shown["maxConnections"], shown["proof"]), (5_000_000, 2, "digest"))
        self.assertTrue((self.daemon.downloads / "a" / "b" / "chosen.bin").exists())
        # The options are closed again, and the folder is offered to the next one.
        self.browser.gone(".options")
        self.browser.press(".options-toggle")
        folder = self.browser.one(".options [name=directory]")
        self.assertEqual(folder.get_attribute("placeholder"), f"Inside {self.daemon.downloads}")
        folder.click()
        self.assertEqual(self.browser.js("return [...arguments[0].list.options].map((each) => each.value)", folder), ["a/b"])

    def test_a_web_page_is_taken_for_the_file_where_that_is_asked_for(self):
        self.browser.write(FIELD, self.origin.file("30K", "wanted.iso", "html"))
        self.browser.press(".options-toggle")
        self.browser.press(".options [name=acceptsHTML]")
        self.browser.press(".add-button")
        item = self.browser.until(lambda: self.daemon.named("wanted.iso"), "it is listed")
        self.browser.until_state(item["id"], "completed")
        self.assertTrue((self.daemon.downloads / "wanted.iso").read_bytes().startswith(b"<!doctype html>"))
        self.assertFalse(
            self.browser.js("return document.querySelector('.options [name=acceptsHTML]').checked"), "for that one only")

    def test_what_was_set_for_one_add_is_gone_for_the_next(self):
        self.browser.press(".options-toggle")
        self.browser.write(".options [name=headers]", "Cookie: session=SECRET123")
        self.browser.write(".options [name=directory]", "elsewhere")
        self.browser.write(".options [name=rateLimit]", "5 MB/s")
        self.browser.write(".options [name=user]", "me")
        self.browser.write(".options [name=password]", "secret-word")
        self.browser.press(".options [name=startsPaused]")
        self.browser.press(".options-toggle")
        self.browser.gone(".options")
        self.assertEqual(self.browser.one(".options-toggle").text, "Options · 6")
        self.assertIn("Headers", self.browser.one(".options-toggle").get_attribute("title"))
        link = self.origin.file("10K", "first.bin", "cookie=session=SECRET123")
        self.browser.write(FIELD, link + Keys.ENTER)
        first = self.browser.until(lambda: self.daemon.named("first.bin"), "it is listed")
        self.assertEqual(first["state"], "paused")
        self.browser.until(lambda: self.browser.one(".options-toggle").text == "Options", "nothing is set any more")
        kept = "return [...document.querySelectorAll('.add input, .add textarea')].filter((field) => field.type === 'checkbox' ? field.checked : field.value !== '').length"
        self.assertEqual(self.browser.js(kept), 0)
        self.daemon.call("POST", f"/downloads/{first['id']}/resume")
        self.browser.until_state(first["id"], "completed")
        self.browser.write(FIELD, link.replace("first", "second") + Keys.ENTER)
        second = self.browser.until(lambda: self.daemon.named("second.bin"), "it is listed")
        self.browser.until_state(second["id"], "failed")  # The server wants the cookie, which was for the first alone.
        self.assertEqual(self.daemon.show(second["id"])["directory"], str(self.daemon.downloads))

    def test_credentials_the_rule_for_names_and_the_time_of_the_start(self):
        (self.daemon.downloads / "taken.bin").write_bytes(b"old")
        self.browser.write(FIELD, self.origin.file("20K", "taken.bin", "auth=basic:me:secret-word"))
        self.browser.press(".options-toggle")
        self.browser.write(".options [name=password]", "secret-word")
        self.browser.press(".add-button")
        self.assertTrue(self.browser.one(".field-user .field-error").text, "a password alone is refused at its field")
        self.browser.write(".options [name=user]", "me")
        self.browser.press(".options [name=onConflict] option[value=overwrite]")
        self.browser.press(".add-button")
        item = self.browser.until(lambda: self.daemon.named("taken.bin"), "it is listed")
        self.browser.until_state(item["id"], "completed")
        self.assertEqual((self.daemon.downloads / "taken.bin").read_bytes(), self.origin.bytes(20_000))
        self.browser.write(FIELD, self.origin.file("20K", "tomorrow.bin"))
        self.browser.js("document.querySelector('[name=notBefore]').value = '2031-05-06T07:08'")
        self.browser.press(".add-button")
        later = self.browser.until(lambda: self.daemon.named("tomorrow.bin"), "it is listed")
        self.assertEqual((later["state"], later["waitReason"]), ("waiting", "notBefore"))

    def test_every_member_of_a_request_has_a_field(self):
        schemas = self.daemon.call("GET", "/openapi.json")["components"]["schemas"]
        members = lambda name: set(schemas[name]["properties"])
        fields = lambda form: {found.get_attribute("name") for found in self.browser.all(f"{form} [name]")}
        # Links have a field of their own, lists of checksums that of the checksum; paths are for the socket, sizes are of
        # Metalink documents, the rest is for programs.
        left_out = {
            "id", "urls", "checksumList", "path", "part", "uploadTo", "secretsOrigin", "userInfo", "expectedBytes", "pieces"}
        # What makes a set of it is no member of a download.
        self.browser.press(".options-toggle")
        self.browser.one(".options [name=name]")
        self.assertEqual(fields(".options") - {"isSet"}, members("DownloadRequest") - left_out)
        identifier = self.daemon.add(self.origin.file("10K", "fields.bin"), startsPaused=True)
        self.browser.press(self.browser.in_row(identifier, ".row-name"))
        # The proxy and certificates are for the socket; samples have a button where they help.
        left_out = {"userInfo", "proxy", "certificates", "insecure", "resumesUnproven"}
        self.assertEqual(fields("dialog.detail .change"), members("RequestChange") - left_out)
        self.browser.press("dialog.detail .detail-head button")

    def test_how_it_connects_is_set_when_it_is_added(self):
        self.forgives = [r"/api/v1/downloads .*400"]  # The daemon alone knows what a proxy is.
        proxy = Listener(forward)
        self.addCleanup(proxy.close)
        self.browser.write(FIELD, self.origin.file("20K", "far.bin", "cookie=pass=yes"))
        self.browser.press(".options-toggle")
        self.assertFalse(self.browser.js("return document.querySelector('.options .section').open"), "closed at first")
        self.browser.press(CONNECTION)
        for name, wrong, right in (
            ("connectTimeout", "soon", "5"), ("stallTimeout", "0", "20"), ("maxRetries", "many", "inf"), ("cookies", "none", "pass=yes; other=1"),
            ("certificates", "none", ""), ("proxy", "ftp://no", proxy.url),
        ):
            self.browser.write(f".options [name={name}]", wrong)
            self.browser.press(".add-button")
            self.assertTrue(self.browser.one(f".field-{name} .field-error").text, name)
            self.assertEqual(self.daemon.items(), [])
            self.browser.write(f".options [name={name}]", right)
        self.browser.write(".options [name=userAgent]", "Tried/1")
        self.assertEqual(self.browser.one(CONNECTION).text, "Connection · 6")
        self.browser.press(".add-button")
        item = self.browser.until(lambda: self.daemon.named("far.bin"), "it is listed")
        # The open options leave no room for the list, which draws no rows out of sight.
        self.until_api(item["id"], lambda shown: shown["state"] == "completed", "it is complete")
        self.assertEqual((proxy.asked[0]["user-agent"], proxy.asked[0]["cookie"]), ("Tried/1", "pass=yes; other=1"))
        self.browser.gone(".options")
        self.browser.press(".options-toggle")
        self.assertEqual(self.browser.one(CONNECTION).text, "Connection", "for that one alone")
        self.assertEqual(self.browser.one(".options [name=proxy]").get_attribute("value"), "")

    def test_a_certificate_is_trusted_or_any_after_a_warning(self):
        secure = Origin("--tls")
        self.addCleanup(secure.stop)
        authority = secure.authority
        warned = lambda: any(found.is_displayed() for found in self.browser.all(".options .notice"))

        def add(name):
            self.browser.write(FIELD, secure.file("20K", name))
            self.browser.press(".add-button")
            return self.browser.until(lambda: self.daemon.named(name), "it is listed")["id"]

        refused = add("refused.bin")
        self.until_api(refused, lambda shown: shown["state"] in ("failed", "waiting"), "its certificate is refused")
        self.daemon.call("POST", f"/downloads/{refused}/cancel")
        self.browser.press(".options-toggle")
        self.browser.press(CONNECTION)
        self.browser.js("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))", self.browser.one(".options [name=certificates]"), authority)
        is_complete = lambda shown: shown["state"] == "completed"
        self.until_api(add("trusted.bin"), is_complete, "it is complete")
        self.assertFalse(warned())
        self.browser.gone(".options")
        self.browser.press(".options-toggle")
        self.browser.press(".options [name=insecure]")
        self.assertTrue(warned())
        self.browser.press(".options-toggle")
        self.assertIn("Accept any certificate", self.browser.one(".options-toggle").get_attribute("title"))
        self.until_api(add("any.bin"), is_complete, "it is complete")
        self.browser.press(".options-toggle")
        self.assertFalse(warned(), "it is for one add alone")

    def test_rules_for_the_file_reach_the_daemon(self):
        self.browser.write(FIELD, self.origin.file("20K", "rules.bin"))
        self.browser.press(".options-toggle")
        self.browser.press(FILE)
        self.browser.write(".options [name=maxBytes]", "10 KB")
        self.browser.write(".options [name=label]", "Tried")
        self.browser.press(".options [name=priority] option[value='1']")
        self.browser.press(".options [name=strict]")
        self.browser.press(".add-button")
        item = self.browser.until(lambda: self.daemon.named("rules.bin"), "it is listed")
        self.browser.until_state(item["id"], "failed")
        self.assertEqual((item["label"], item["priority"]), ("Tried", 1))
        self.assertIn("more than the 10.0 KB allowed", self.browser.text(self.browser.in_row(item["id"], ".row-reason")))

    def test_a_list_of_checksums_is_given_by_its_link(self):
        digest = hashlib.sha256(self.origin.bytes(20_000)).hexdigest()
        listed = Listener(lambda *_: (200, {}, f"{digest}  listed.bin\n".encode()))
        self.addCleanup(listed.close)
        self.browser.write(FIELD, self.origin.file("20K", "listed.bin"))
        self.browser.press(".options-toggle")
        self.browser.write(".options [name=checksum]", f"{listed.url}/SHA256SUMS")
        self.browser.press(".add-button")
        item = self.browser.until(lambda: self.daemon.named("listed.bin"), "it is listed")
        self.browser.until_state(item["id"], "completed")
        self.assertEqual(self.daemon.show(item["id"])["proof"], "digest")

    def test_a_double_click_on_download_adds_one_and_touches_nothing_else(self):
        others = [self.daemon.add(self.origin.file("10K", f"base{number:02}.bin"), startsPaused=True) for number in range(12)]
        self.browser.until(lambda: len(self.browser.all(".row")) > 5, "rows")
        field = self.browser.write(FIELD, self.origin.file("40M", "new.bin", "rate=400K"))
        at = self.browser.js("return [scrollY, arguments[0].getBoundingClientRect().top]", field)
        ActionChains(self.browser.driver).double_click(self.browser.one(".add-button")).perform()
        new = self.browser.until(lambda: self.daemon.named("new.bin"), "it was added")
        toast = self.browser.one(".toast")
        self.assertEqual(self.browser.js("return [scrollY, arguments[0].getBoundingClientRect().top]", field), at, "nothing moved")
        self.assertEqual({item["id"]: item["state"] for item in self.daemon.items() if item["id"] in others},
                         {identifier: "paused" for identifier in others})
        self.assertEqual(len(self.daemon.items()), 13)
        self.assertEqual(self.browser.all(ERROR), [])
        self.assertFalse(self.browser.all("dialog.detail[open]"))
        self.assertIn("Added 1 download", toast.text)
        self.browser.press(".toast [data-toast=action]")
        self.browser.until(lambda: self.browser.driver.switch_to.active_element.get_attribute("data-id") == new["id"], "it is shown")

    def test_a_missing_scheme_is_offered(self):
        self.browser.write(FIELD, "example.com/file.iso")
        self.browser.press(".add-hint button")
        self.assertEqual(self.browser.one(FIELD).get_attribute("value"), "https://example.com/file.iso")
        self.browser.gone(".add-hint")
        self.assertEqual(self.browser.all(ERROR), [])

    def test_that_the_daemon_was_away_is_not_said_when_it_is_back(self):
        self.forgives = [r"net::ERR_"]
        self.daemon.stop()
        self.browser.write(FIELD, self.origin.file("10K", "away.bin") + Keys.ENTER)
        self.assertIn("does not answer", self.browser.one(ERROR).text)
        self.daemon.start()
        self.browser.gone(ERROR)
        self.assertNotEqual(self.browser.one(FIELD).get_attribute("value"), "", "what was typed stays")

    def test_one_that_is_added_paused_waits_for_its_button(self):
        self.browser.write(FIELD, self.origin.file("10K", "later.bin"))
        self.browser.press(".options-toggle")
        self.browser.press(".options [name=startsPaused]")
        self.browser.press(".add-button")
        identifier = self.browser.until(lambda: self.daemon.items(), "it is listed")[0]["id"]
        self.browser.until_state(identifier, "paused")
        self.browser.press(self.browser.button(identifier, "resume"))
        self.browser.until_state(identifier, "completed")

    def test_what_the_daemon_refuses_is_said_beside_the_field(self):
        self.forgives = [r"/api/v1/downloads .*40[03]"]
        self.browser.write(FIELD, self.origin.file("10K", "escape.bin"))
        self.browser.press(".options-toggle")
        self.browser.write(".options [name=directory]", "../outside")
        self.browser.press(".add-button")
        self.assertIn("../outside", self.browser.one(".field-directory .field-error").text)
        self.assertEqual(self.daemon.items(), [])
        self.assertNotEqual(self.browser.one(FIELD).get_attribute("value"), "", "what was typed stays")

    def test_what_is_refused_of_a_list_is_said_with_the_line_of_its_option(self):
        self.forgives = [r"/api/v1/downloads .*40[03]"]
        first, second = self.origin.file("10K", "first.bin"), self.origin.file("10K", "second.bin")
        for wrong in ("  dir=../outside", "  checksum=sha-256:12"):
            self.browser.write(FIELD, "")
            self.browser.one(FIELD).send_keys((Keys.SHIFT + Keys.ENTER + Keys.NULL).join([first, "", second, wrong]))
            self.browser.press(".add-button")
            error = self.browser.one(ERROR).text
            self.assertTrue(error.startswith("Line 4: "), error)
        self.assertEqual(self.daemon.items(), [])

    def test_a_name_with_a_folder_is_below_the_folder(self):
        self.browser.write(FIELD, (Keys.SHIFT + Keys.ENTER + Keys.NULL).join([self.origin.file("10K", "a.bin"), "  out=sub/renamed.bin"]))
        self.browser.press(".add-button")
        item = self.browser.until(lambda: self.daemon.items(), "it is listed")[0]
        self.browser.until_state(item["id"], "completed")
        self.assertEqual(item["name"], "renamed.bin")
        self.assertTrue(item["directory"].endswith("/sub"), item["directory"])

    def test_options_that_make_no_sense_are_said_beside_them(self):
        self.browser.write(FIELD, self.origin.file("10K", "options.bin"))
        self.browser.press(".options-toggle")
        for name, wrong, right in (
            ("rateLimit", "fast", "1 MB/s"), ("maxConnections", "0", "1"), ("headers", "no colon", "X-A: b"),
        ):
            self.browser.write(f".options [name={name}]", wrong)
            self.browser.press(".add-button")
            self.assertTrue(self.browser.one(f".field-{name} .field-error").text)
            self.assertEqual(self.browser.one(f".options [name={name}]").get_attribute("aria-invalid"), "true")
            self.browser.write(f".options [name={name}]", right)
        self.assertEqual(self.daemon.items(), [])

    def test_a_list_that_is_dropped_on_the_page_comes_into_the_field(self):
        links = [self.origin.file("10K", f"dropped-{number}.bin") for number in range(2)]
        self.browser.js("""
            const transfer = new DataTransfer();
            transfer.setData('text/uri-list', '# a comment\\r\\n' + arguments[0].join('\\r\\n'));
            for (const type of ['dragenter', 'dragover', 'drop'])
              document.body.dispatchEvent(new DragEvent(type, {dataTransfer: transfer, bubbles: true, cancelable: true}));
        """, links)
        self.browser.until(lambda: self.browser.one(".add-button").text == "Add 2", "both are in the field")
        self.browser.press(".add-button")
        self.browser.until(lambda: len(self.browser.all('.row[data-state="completed"]')) == 2, "both are complete")

    def dropped(self, **texts):
        """What is in the field, or said, after texts of these types were dropped: `plain`, `html`."""
        self.browser.js("""
            const transfer = new DataTransfer();
            for (const [type, text] of Object.entries(arguments[0])) transfer.setData(`text/${type}`, text);
            for (const type of ['dragenter', 'dragover', 'drop'])
              document.body.dispatchEvent(new DragEvent(type, {dataTransfer: transfer, bubbles: true, cancelable: true}));
        """, texts)

    def test_links_among_other_words_of_what_is_dropped_come_into_the_field(self):
        one, two = "http://localhost/a/one.bin?x=1&y=2", "http://localhost/two.bin"
        for texts, links in (
            ({"plain": f"some words {two}, and more"}, [two]),
            ({"plain": "a word", "html": f"a <a class=x href='{one.replace('&', '&amp;')}'>word</a>"}, [one]),
            ({"plain": f"words {two} (one)", "html": f'words {two} (<a href="{one}">one</a>)'}, [one, two]),
            ({"plain": f"File:\n{two}\n(1 MB)", "html": f"<p>File:<p>{two}<p>(1 MB)"}, [two]),
            ({"plain": "one", "html": '<a href="javascript:void(0)">one</a> <a href="/other">two</a>'}, []),
        ):
            with self.subTest(texts=texts):
                self.browser.write(FIELD, "")
                self.dropped(**texts)
                if links:
                    self.browser.until(lambda: self.browser.one(FIELD).get_attribute("value").split("\n") == links, "they are in the field")
                    self.assertEqual(self.browser.all(".toast-warn"), [])
                else:
                    self.assertIn("no link", self.browser.one(".toast-warn").text)
                    self.assertEqual(self.browser.one(FIELD).get_attribute("value"), "")

    def test_a_link_that_is_pasted_anywhere_comes_into_the_field(self):
        link = self.origin.file("10K", "pasted.bin")
        self.browser.js("""
            const data = new DataTransfer();
            data.setData('text/plain', arguments[0]);
            const event = new ClipboardEvent('paste', {bubbles: true, cancelable: true});
            Object.defineProperty(event, 'clipboardData', {value: data}); // Firefox lets no script make one.
            document.body.dispatchEvent(event);
        """, link)
        self.browser.until(lambda: self.browser.one(FIELD).get_attribute("value") == link, "it is in the field")

    def test_an_empty_list_says_what_to_do_and_offers_a_sample(self):
        self.assertIn("Paste a link above", self.browser.one(".empty").text)
        self.browser.press(".empty [data-sample]")
        value = self.browser.one(FIELD).get_attribute("value")
        self.assertTrue(value.startswith("https://"))
        self.assertEqual(self.browser.all(ERROR), [])
        self.assertEqual(self.daemon.items(), [], "it is offered, not started")
