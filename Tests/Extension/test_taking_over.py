"""Downloads of the browser that Ferry takes over, and those that it leaves."""

from pathlib import Path

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from site_of_files import Site, content
from stage import ExtensionTest

SIZE = 2_000_000


class TakingOver(ExtensionTest):
    def assert_taken(self, name, size=SIZE):
        listed = self.one_listed()
        self.assertEqual(listed["name"], name)
        self.assertEqual(Path(listed["path"]).read_bytes(), content(name, size))
        self.assertEqual(self.browser.own_downloads(), [])
        self.assertEqual(list(self.stage.kept.iterdir()), [])
        return listed

    def assert_left(self, name, size=SIZE):
        self.assertEqual(self.until(lambda: self.kept_file(name), name).read_bytes(), content(name, size))
        # A browser that has finished cannot be told to stop: what Ferry has stored meanwhile goes again.
        self.until(lambda: not self.daemon.listed(), "Ferry has nothing")

    def test_a_download_goes_over_with_session_cookie_referer_and_user_agent(self):
        self.visit(f'<a id=file href="/file/large.bin?size={SIZE}">large.bin</a>')
        self.take()
        listed = self.assert_taken("large.bin")
        self.assertEqual(listed["userInfo"]["page"], self.site.url + "/page")
        own, *ferry = self.site.requests("/file/large.bin")
        self.assertGreaterEqual(len(ferry), 1)
        for request in ferry:
            self.assertEqual(request["cookie"], "session=canary-7")
            self.assertEqual(request["referer"], own["referer"])
            self.assertEqual(request["user-agent"], own["user-agent"])
        self.assertNotIn("canary-7", str(self.daemon.show(listed["id"])))

    def test_a_redirected_link_goes_over_as_the_page_has_it(self):
        self.visit('<a id=file href="/go/moved.bin?size=2000000">moved</a>')
        self.take()
        listed = self.assert_taken("moved.bin")
        self.assertEqual(listed["url"], self.site.url + "/go/moved.bin?size=2000000")

    def test_a_name_that_the_page_gives_is_kept(self):
        self.visit('<a id=file download="named by page.bin" href="/file/large.bin?unnamed=1">large.bin</a>')
        self.take()
        self.assertEqual(self.one_listed()["name"], "named by page.bin")

    def test_a_download_that_a_form_made_by_post_stays_with_the_browser(self):
        self.visit(f'<form method=post action="/file/made.bin?size={SIZE}"><button id=make>Make</button></form>')
        self.browser.press("#make")
        self.assert_left("made.bin")
        self.assertEqual([one["method"] for one in self.site.requests("/file/made.bin")], ["POST"])

    def test_a_link_that_is_good_for_one_request_stays_with_the_browser(self):
        self.site.held = 1_000_000
        self.visit(f'<a id=file href="/once/single.bin?size={SIZE}">single.bin</a>')
        self.browser.press("#file")
        self.until(lambda: len(self.site.requests("/once/single.bin")) > 1, "Ferry has asked")
        self.site.gate.set()
        self.assert_left("single.bin")

    def test_a_file_behind_credentials_of_the_browser_stays_with_it(self):
        self.site.held = 1_000_000
        self.visit(f'<a id=file href="/basic/locked.bin?size={SIZE}">locked.bin</a>')
        self.browser.open(self.site.url.replace("//", "//me:sesame@") + "/page")
        self.browser.press("#file")

        # Ferry has been refused, or the browser has given the file up: nothing of it is under way when the test ends.
        def decided():
            asked = ["authorization" in one for one in self.site.requests("/basic/locked.bin")]
            ferry = asked[asked.index(True) + 1:] if True in asked else []
            listed = self.daemon.listed()
            return bool(ferry) and (not ferry[0] or bool(listed) and listed[0]["state"] != "paused")
        self.until(decided, "Ferry has asked too")
        self.site.gate.set()

        def whole():
            listed = self.daemon.listed()
            if listed:
                return listed[0]["state"] == "completed" and Path(listed[0]["path"])
            return self.kept_now("locked.bin")
        self.assertEqual(self.until(whole, "one of the two has the file").read_bytes(), content("locked.bin", SIZE))

    def test_a_frame_of_another_site_does_not_lend_its_address_to_a_download(self):
        other = Site()
        self.addCleanup(other.close)
        target = f"{self.site.url}/file/setup.bin?size={SIZE}"
        other.page = f"<script>onmessage = () => {{ location = '/away?to={target}' }}</script>"
        # The click is answered when the frame's request is there too, which is then the newest.
        self.site.together = 2
        self.site.held = 1_000_000
        # The sandbox forbids the frame a download of its own.
        self.visit(
            f'<iframe sandbox=allow-scripts src="{other.url}/page"></iframe><a id=file href="{target}">setup.bin</a><script>'
            "file.onclick = () => setTimeout(() => document.querySelector('iframe').contentWindow.postMessage('go', '*'), 300)"
            "</script>")
        self.browser.press("#file")
        self.until(lambda: other.requests("/away"), "the frame has begun")
        listed = self.until(lambda: self.daemon.listed() or None, "Ferry has a download")
        self.assertEqual([one["url"] for one in listed], [target])
        self.site.gate.set()
        self.one_listed()
        self.assertEqual(len(other.requests("/away")), 1)

    def test_a_held_key_leaves_a_download_to_the_browser(self):
        self.browser.inside("await api.storage.local.set({key: 'Shift'}); return true")
        self.visit('<button id=go onclick="location = \'/file/left.bin\'">left</button>')
        ActionChains(self.browser.driver).key_down(Keys.SHIFT).click(self.browser.one("#go")).key_up(Keys.SHIFT).perform()
        self.assert_left("left.bin")
        # The next one goes over again.
        self.visit('<a id=file href="/file/taken.bin">taken</a>')
        self.take()
        self.assertEqual(self.one_listed()["name"], "taken.bin")

    def test_rules_leave_small_files_types_and_sites_to_the_browser(self):
        for rules, name in (
            ({"smallest": SIZE + 1}, "small.bin"), ({"types": "-bin"}, "type.bin"), ({"types": "zip"}, "other.bin"),
            ({"sites": ["127.0.0.1"]}, "site.bin"), ({"isOn": False}, "off.bin"),
        ):
            with self.subTest(rules):
                self.setUp()
                self.browser.inside("await api.storage.local.set(arguments[0]); return true", rules)
                self.visit(f'<a id=file href="/file/{name}">{name}</a>')
                self.browser.press("#file")
                self.assert_left(name)

    def test_a_file_made_by_the_page_stays_with_the_browser(self):
        self.visit("<a id=file download=made.txt>made</a><script>"
                   "file.href = URL.createObjectURL(new Blob(['made by the page']))</script>")
        self.browser.press("#file")
        self.assertEqual(self.kept_file("made.txt").read_text(), "made by the page")
        self.assertEqual(self.daemon.listed(), [])

    def test_without_the_host_the_browser_downloads_and_says_so(self):
        self.without_host()
        self.visit('<a id=file href="/file/kept.bin">kept</a>')
        self.browser.press("#file")
        self.assert_left("kept.bin")
        self.until(lambda: self.badge() == "!", "the badge says so")
        self.browser.extension("popup.html")
        self.until(lambda: "ferry browser install" in self.browser.text("#word"), "the popup says what to do")

    def test_the_rules_are_set_on_their_page(self):
        self.browser.extension("options.html")
        self.browser.write("[name=smallest]", "1.5")
        self.browser.write("[name=types]", "zip, .iso")
        self.browser.write("[name=sites]", "https://example.com/x" + Keys.ENTER + "a.example")
        self.browser.one("[name=types]").click()
        self.until(lambda: self.browser.text("#word") == "Saved.", "it is saved")
        saved = self.browser.inside("return await api.storage.local.get(null)")
        self.assertEqual(
            (saved["smallest"], saved["types"], saved["sites"]), (1_500_000, "zip, .iso", ["example.com", "a.example"]))
