"""Which of the requests that the browser has made is that of a download: events as browsers report them, in a page of the
extension."""

import unittest

from stage import ExtensionTest

# Reports the events of a case to the listeners of requests.js; gives what is claimed.
CLAIM = """
const heard = {};
for (const name of ['onSendHeaders', 'onHeadersReceived', 'onErrorOccurred', 'onBeforeRedirect', 'onResponseStarted']) {
  api.webRequest[name].addListener = (listener) => { heard[name] = listener; };
}
api.tabs.get = async (id) => ({ id, url: arguments[1] });
const requests = await import(api.runtime.getURL('requests.js') + '?' + Math.random());
requests.watch();
for (const [name, details] of arguments[0]) heard[name]({ tabId: 7, frameId: 0, method: 'GET', ...details });
const found = await requests.claim(arguments[2]);
const again = await requests.claim(arguments[2]);
return [found && requests.link(found), again];
"""

PAGE = "https://site.example/files"
FILE = "https://cdn.example/file.bin"


def sent(number, url, kind="other", by="https://site.example", frame=0, method="GET", **fields):
    headers = [{"name": name.replace("_", "-"), "value": value} for name, value in fields.items()]
    return ["onSendHeaders", {
        "requestId": number, "url": url, "type": kind, "frameId": frame, "method": method, "initiator": by,
        "documentUrl": PAGE, "requestHeaders": headers}]


def reached(number, address):
    return ["onResponseStarted", {"requestId": number, "ip": address}]


def redirected(number, address):
    return ["onBeforeRedirect", {"requestId": number, "ip": address}]


ENDS = {"first": FILE, "last": FILE}


class Requests(ExtensionTest):
    def claim(self, events, ends=ENDS, tab=PAGE):
        link, again = self.browser.inside(CLAIM, events, tab, ends)
        self.assertIsNone(again, "a request is given once")
        return link

    def test_a_request_with_both_ends_of_the_download_is_its_own(self):
        first = "https://site.example/go"
        events = [
            sent("1", "https://site.example/other"), sent("2", first, Cookie="a=b"), redirected("2", "192.0.2.1"),
            sent("2", FILE + "#part", Referer=PAGE), reached("2", "2001:db8::1")]
        link = self.claim(events, {"first": first, "last": FILE})
        self.assertEqual(link["url"], first)
        self.assertEqual(link["addresses"], ["192.0.2.1", "2001:db8::1"])
        self.assertEqual(link["page"], PAGE)
        self.assertIn("\ta\tb", link["cookies"])

    def test_one_end_alone_is_not_enough(self):
        first = "https://site.example/go"
        events = [sent("1", first), sent("1", "https://elsewhere.example/file.bin")]
        self.assertIsNone(self.claim(events, {"first": first, "last": FILE}))
        self.assertIsNone(self.claim(events, {"first": "https://elsewhere.example/", "last": first}))
        # Firefox tells one end.
        self.assertEqual(self.claim(events, {"either": first})["url"], first)
        self.assertIsNone(self.claim(events, {"either": FILE}))

    def test_of_two_that_fit_none_is_taken(self):
        self.assertIsNone(self.claim([sent("1", FILE, Cookie="a=b"), sent("2", FILE)]))
        self.assertIsNone(self.claim([sent("1", FILE), sent("2", FILE, kind="main_frame", by="https://advert.example")]))

    def test_what_a_frame_of_another_site_began_is_no_request_of_the_page(self):
        advert = "https://advert.example"
        for event in (
            sent("1", FILE, kind="sub_frame", by=advert), sent("1", FILE, frame=4, by=advert),
            sent("1", FILE, kind="sub_frame", by="null"), sent("1", FILE, frame=4, by="https://site.example.advert.example"),
            sent("1", FILE, frame=4, by="http://site.example"),
        ):
            self.assertIsNone(self.claim([event]), event)
            # Beside the page's own it is nothing.
            own = sent("2", FILE, Referer="https://site.example/own")
            self.assertEqual(self.claim([event, own])["referer"], "https://site.example/own", event)
        self.assertIsNotNone(self.claim([sent("1", FILE, kind="sub_frame")]))

    def test_after_a_post_the_link_is_where_it_led_to(self):
        events = [sent("1", "https://site.example/form", method="POST", Cookie="a=b"), sent("1", FILE, Cookie="c=d")]
        link = self.claim(events, {"first": "https://site.example/form", "last": FILE})
        self.assertEqual(link["url"], FILE)
        self.assertNotIn("\ta\tb", link["cookies"])

    def test_requests_of_private_windows_and_of_no_tab_are_not_kept(self):
        for change in ({"incognito": True}, {"tabId": None}):
            event = sent("1", FILE)
            event[1].update(change)
            self.assertEqual(self.claim([event]) is None, "incognito" in change, change)


if __name__ == "__main__":
    unittest.main()
