"""The entries of the menu, whose clicks the tests report in place of the browser."""

from pathlib import Path

from site_of_files import content
from stage import BASE, ExtensionTest

LINKS = '<a href="/file/a.bin">first</a> <a href="/file/b.bin#x">second</a> <a href="mailto:x@a.example">mail</a> {}'

# Runs in a page of the extension: the listener of the menu, with the tab of the site.
CLICK = """
let clicked;
const add = api.contextMenus.onClicked.addListener;
api.contextMenus.onClicked.addListener = (listener) => { clicked = listener; };
const menus = await import(api.runtime.getURL('menus.js'));
menus.watch();
const tab = (await api.tabs.query({})).find(({url}) => url?.startsWith(arguments[1]));
await clicked({menuItemId: arguments[0], frameId: 0, ...arguments[2]}, tab);
return true;
"""


class Menus(ExtensionTest):
    def click(self, entry, **info):
        """Reports a click on the entry for the site, which stays open in a tab of its own."""
        self.browser.driver.switch_to.new_window("tab")
        self.addCleanup(self.close_others)
        self.browser.inside(CLICK, entry, self.site.url, info)

    def close_others(self):
        first, *others = self.browser.driver.window_handles
        for handle in others:
            self.browser.driver.switch_to.window(handle)
            self.browser.driver.close()
        self.browser.driver.switch_to.window(first)

    def until_whole(self, *names):
        def whole():
            items = {one["name"]: one for one in self.daemon.listed() if one["state"] == "completed"}
            return items if set(items) == set(names) else None
        items = self.until(whole, f"{names} are whole")
        for name in names:
            self.assertEqual(Path(items[name]["path"]).read_bytes(), content(name, 2_000_000))

    def test_a_link_is_added_with_the_cookies_of_its_site(self):
        self.visit(LINKS.format(""))
        self.click("link", linkUrl=self.site.url + "/file/a.bin")
        self.until_whole("a.bin")
        self.assertEqual(self.site.requests("/file/a.bin")[0]["referer"], self.site.url + "/page")

    def test_the_links_and_addresses_of_a_selection_are_added(self):
        self.visit(f'<a href="/file/no.bin">not</a><p id=part>' + LINKS.format(f"{self.site.url}/file/c.bin") + "</p>")
        self.browser.js("getSelection().selectAllChildren(document.querySelector('#part'))")
        self.click("selection")
        self.until_whole("a.bin", "b.bin", "c.bin")

    def test_links_of_a_page_are_chosen(self):
        self.visit(LINKS.format('<a href="/page/other">a page</a>'))
        self.click("page")
        tabs = self.browser.inside("return (await api.tabs.query({})).map(({url, pendingUrl}) => pendingUrl || url)")
        self.assertEqual([url for url in tabs if "choose.html" in url], [f"{BASE}/choose.html"])
        # WebDriver does not give a tab of an extension; the same page in one of its own.
        self.browser.extension("choose.html")
        self.until(lambda: len(self.browser.all("#list li")) == 3, "three links")
        self.browser.write("[name=filter]", ".bin")
        self.until(lambda: len([one for one in self.browser.all("#list li") if one.is_displayed()]) == 2, "two are shown")
        self.browser.press("[name=all]")
        self.browser.press("#add")
        self.until(lambda: self.browser.text("#word") == "Added: 2", "they are added")
        self.until_whole("a.bin", "b.bin")

    def test_without_the_host_the_browser_downloads_the_link(self):
        self.without_host()
        self.visit(LINKS.format(""))
        self.click("link", linkUrl=self.site.url + "/file/a.bin")
        self.assertEqual(self.kept_file("a.bin").read_bytes(), content("a.bin", 2_000_000))
