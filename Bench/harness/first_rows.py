"""Opens the page at a sign-in address, then opens it again. Prints, as JSON, the seconds after which each part appeared.

Usage: first_rows.py PROFILE URL, with the Python of Scripts/page-environment.
"""

import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("PAGE_PATIENCE", "180")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/Page"))

from browser import Browser  # noqa: E402

# Runs before the page's own scripts. Times count from the request of the document.
WITNESS = """
window.shownAfter = {};
new MutationObserver(() => {
  for (const [name, selector] of [['page', '.add-field'], ['rows', '.row']]) {
    if (!(name in shownAfter) && document.querySelector(selector)) shownAfter[name] = performance.now() / 1000;
  }
}).observe(document, { childList: true, subtree: true });
"""


def shown(browser):
    return browser.until(
        lambda: (lambda found: found if found and "rows" in found else None)(browser.js("return window.shownAfter")),
        "rows are shown", 180)


def main():
    profile, address = sys.argv[1:]
    browser = Browser(profile)
    try:
        browser.driver.set_page_load_timeout(300)
        browser.set_size(1280, 800)
        browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=WITNESS)
        browser.driver.get(address)
        first = shown(browser)
        browser.driver.get("about:blank")
        time.sleep(1)
        browser.driver.get(address.partition("#")[0])
        print(json.dumps({"page": first["page"], "rows": first["rows"], "again": shown(browser)["rows"]}))
    finally:
        browser.quit()


if __name__ == "__main__":
    main()
