"""Nothing is lost: killed daemons, links that expire, and what the popup does about them."""

from pathlib import Path

from site_of_files import Site, content
from stage import ExtensionTest

SIZE = 4_000_000
HELD = 2_500_000


class Keeping(ExtensionTest):
    def begin(self, link):
        """Takes a download over that stops in the middle; gives it."""
        self.site.held = HELD
        self.visit(f'<a id=file href="{link}">large.bin</a>')
        self.browser.press("#file")
        listed = self.one_listed("downloading")
        self.until(lambda: self.daemon.show(listed["id"])["progress"]["completedBytes"] >= 2_000_000, "most of it")
        return listed

    def assert_whole(self, identifier):
        listed = self.one_listed()
        self.assertEqual(listed["id"], identifier)
        self.assertEqual(Path(listed["path"]).read_bytes(), content("large.bin", SIZE))

    def test_a_killed_daemon_is_started_by_the_next_download_and_both_are_whole(self):
        first = self.begin(f"/file/large.bin?size={SIZE}")
        self.daemon.kill()
        self.site.gate.set()
        self.site.held = None
        self.visit('<a id=file href="/file/second.bin">second.bin</a>')
        self.site.gate.clear()
        self.take(known=[first["id"]])
        self.until(lambda: len([1 for one in self.daemon.listed() if one["state"] == "completed"]) == 2, "both are whole")
        items = {one["name"]: one for one in self.daemon.listed()}
        self.assertEqual(items["large.bin"]["id"], first["id"])
        self.assertEqual(Path(items["large.bin"]["path"]).read_bytes(), content("large.bin", SIZE))
        self.assertEqual(Path(items["second.bin"]["path"]).read_bytes(), content("second.bin", 2_000_000))

    def expire(self, identifier):
        """Breaks the connections and lets the link of the page expire."""
        self.site.keys = {"second"}
        self.site.breaks = True
        self.site.gate.set()
        self.until(
            lambda: self.daemon.show(identifier).get("waitReason") == "freshLink", "it waits for a new link")
        # The browser's own request stops in the middle from now on; the rest that Ferry asks for is shorter.
        self.site.gate.clear()
        self.site.breaks = False
        self.site.asked.clear()

    def test_the_next_click_on_its_page_renews_an_expired_link(self):
        first = self.begin(f"/file/large.bin?size={SIZE}&key=first")
        self.expire(first["id"])
        self.visit(f'<a id=file href="/file/large.bin?size={SIZE}&key=second">large.bin</a>')
        self.browser.press("#file")
        self.assert_whole(first["id"])
        # The browser's request, and the one by which Ferry has seen that it gets the same file.
        own, seen, *ferry = self.site.requests("/file/large.bin")
        self.assertNotIn("range", seen)
        self.assertTrue(ferry and all("range" in one for one in ferry if one["query"]["key"] == "second"), ferry)
        self.assertEqual(self.browser.own_downloads(), [])

    def test_a_file_of_another_size_is_a_download_of_its_own(self):
        first = self.begin(f"/file/large.bin?size={SIZE}&key=first")
        self.expire(first["id"])
        self.visit('<a id=file href="/file/large.bin?size=1500000&key=second">large.bin</a>')
        self.take()
        self.until(lambda: len(self.daemon.listed()) == 2, "another download")
        self.assertEqual(self.daemon.show(first["id"])["waitReason"], "freshLink")

    def test_the_popup_opens_the_page_of_an_expired_link(self):
        first = self.begin(f"/file/large.bin?size={SIZE}&key=first")
        self.expire(first["id"])
        # The site has moved the file meanwhile: neither its name nor its page are as before.
        self.site.page = f'<!doctype html><a id=file href="/go/large.bin?size={SIZE}&key=second">here</a>'
        self.browser.extension("popup.html")
        before = set(self.browser.driver.window_handles)
        self.browser.press("[data-action=renew]")
        opened = self.until(lambda: set(self.browser.driver.window_handles) - before, "a tab").pop()
        self.browser.driver.close()
        self.browser.driver.switch_to.window(opened)
        self.browser.press("#file")
        self.assert_whole(first["id"])

    def other_site(self, page):
        other = Site()
        self.addCleanup(other.close)
        other.page = "<!doctype html>" + page
        return other

    def test_a_link_in_a_frame_of_another_site_renews_nothing(self):
        first = self.begin(f"/file/large.bin?size={SIZE}&key=first")
        self.expire(first["id"])
        other = self.other_site(
            f'<a id=ad download href="/file/large.bin?size={SIZE}">ad</a><script>onload = () => ad.click()</script>')
        self.visit(f'<iframe src="{other.url}/page"></iframe>')
        self.assertEqual(self.kept_file("large.bin").read_bytes(), content("large.bin", SIZE))
        self.assertEqual([one["id"] for one in self.daemon.listed()], [first["id"]])
        self.assertEqual(self.daemon.show(first["id"])["waitReason"], "freshLink")
        # Nor was it requested for Ferry.
        self.assertEqual(len(other.requests("/file/large.bin")), 1)

    def test_what_another_site_begins_in_the_tab_is_not_the_new_link(self):
        first = self.begin(f"/file/large.bin?size={SIZE}&key=first")
        self.expire(first["id"])
        other = self.other_site("")
        other.page = (f'<a target=_top style="position: fixed; inset: 0" href="{other.url}/file/large.bin?size={SIZE}">ad</a>')
        other.held = HELD
        self.site.page = f'<!doctype html><iframe id=file width=300 height=200 src="{other.url}/page"></iframe>'
        self.browser.extension("popup.html")
        before = set(self.browser.driver.window_handles)
        self.browser.press("[data-action=renew]")
        opened = self.until(lambda: set(self.browser.driver.window_handles) - before, "a tab").pop()
        self.browser.driver.switch_to.window(opened)
        self.until(lambda: self.browser.js("return document.readyState") == "complete", "the frame is there")
        self.browser.press("#file")
        second = self.until(
            lambda: [one for one in self.daemon.listed() if one["id"] != first["id"] and one["state"] != "paused"],
            "a download of its own")[0]
        other.gate.set()
        self.assertNotIn("page", second.get("userInfo", {}))
        self.assertEqual(self.daemon.show(first["id"])["waitReason"], "freshLink")

    def test_the_popup_pauses_resumes_and_opens_the_folder(self):
        first = self.begin(f"/file/large.bin?size={SIZE}")
        self.assertEqual(self.until(self.badge, "the badge has a number"), "1")
        self.browser.extension("popup.html")
        self.browser.press("[data-action=pause]")
        self.until(lambda: self.daemon.show(first["id"])["state"] == "paused", "it is paused")
        self.site.gate.set()
        self.site.held = None
        self.browser.press("[data-action=resume]")
        self.assert_whole(first["id"])
        self.browser.press("[data-action=open]")
        self.until(self.stage.opened.exists, "a folder is opened")
        self.assertEqual(self.stage.opened.read_text(), f"file://{self.daemon.downloads}/\n")

    def test_the_popup_leads_to_the_page_signed_in(self):
        self.browser.extension("popup.html")
        before = set(self.browser.driver.window_handles)
        self.browser.press("#page")
        opened = self.until(lambda: set(self.browser.driver.window_handles) - before, "a tab").pop()
        # The popup closes itself where the browser lets a tab do that.
        self.browser.driver.switch_to.window(opened)
        self.browser.one(".add-field")
