"""A browser, driven: what a user sees and does, and what went wrong inside. BROWSER says which: chromium or firefox."""

import os
import shutil
import time
import unittest

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException, WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import firefox
from servers import PATIENCE

NAME = os.environ.get("BROWSER", "chromium")

# Runs in each document before its own scripts: what the page must never do is written down.
WITNESS = """
window.ran = [];
window.faults = [];
window.addEventListener('error', (event) => window.faults.push('error: ' + (event.message ?? event.target?.src)));
window.addEventListener('unhandledrejection', (event) => window.faults.push('rejection: ' + event.reason));
document.addEventListener('securitypolicyviolation', (event) =>
  window.faults.push('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample));
"""

# Chromium's own first page is one of Debian's search engine, whose loading can hold up the first page of a test.
START_PREFERENCES = {"session.restore_on_startup": 4, "session.startup_urls": ["about:blank"]}


def new_driver(profile):
    if NAME == "firefox":
        return firefox.Driver(profile, WITNESS)
    options = Options()
    options.binary_location = os.environ.get("CHROMIUM") or shutil.which("chromium")
    for argument in (
        "--headless=new", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--disable-extensions",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-proxy-server",
        "--hide-scrollbars", "--force-color-profile=srgb", "--lang=en-US", f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium's own does not work for root.
    options.add_experimental_option("prefs", START_PREFERENCES)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = Service(os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_page_load_timeout(PATIENCE)
    driver.set_script_timeout(PATIENCE)
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WITNESS})
    return driver


class Browser:
    def __init__(self, profile):
        self.driver = new_driver(profile)

    def quit(self):
        self.driver.quit()

    # Waiting: always for something that is seen, never for time.

    def until(self, condition, what, patience=PATIENCE):
        """Waits until `condition()` gives something true, and gives that. A `what` that is called says what holds instead."""
        def holds(_):
            try:
                return condition()
            except (StaleElementReferenceException, IndexError):
                return False  # The page was drawn anew in between.
        try:
            return WebDriverWait(self.driver, patience, poll_frequency=0.1).until(holds)
        except TimeoutException as error:
            raise TimeoutException(f"waited for: {what() if callable(what) else what}", error.screen) from None

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        """The first that can be seen."""
        return self.until(
            lambda: next((found for found in self.all(selector) if found.is_displayed()), None), f"{selector} is shown")

    def gone(self, selector):
        self.until(lambda: not any(found.is_displayed() for found in self.all(selector)), f"{selector} is gone")

    def module(self, name, expression, *arguments):
        """The value of an expression of the page's modules, with that one as `it`, once it is loaded."""
        self.until(
            lambda: self.js(f"const {{ modules }} = await import('/page.js'); return '{name}.js' in modules"), f"{name}.js is loaded")
        return self.js(f"const {{ modules }} = await import('/page.js'); const it = modules['{name}.js']; return {expression}", *arguments)

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def press(self, selector):
        """Clicks as a mouse does; anew while something else is drawn."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                element = self.one(selector)
                self.until(element.is_enabled, f"{selector} is enabled")
                return element.click()
            except (StaleElementReferenceException, WebDriverException):
                if time.monotonic() > until:
                    raise

    def write(self, selector, text):
        """Types into a field, over what is there; an empty text empties it."""
        field = self.one(selector)
        field.send_keys(Keys.CONTROL + "a" + Keys.NULL + (text or Keys.DELETE))
        return field

    # The page as a whole.

    def open(self, address):
        self.driver.get("about:blank")
        self.driver.get(address)

    def set_language(self, tags):
        """What the browser says that its user reads: `zh-CN,zh`."""
        if NAME == "firefox":
            return self.driver.set_language(tags)
        agent = self.cdp("Browser.getVersion")["userAgent"]
        self.cdp("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=tags)

    def set_size(self, width, height, is_phone=False, scale=1):
        if NAME == "firefox":
            return self.driver.set_size(width, height, scale)
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=is_phone)

    def set_scheme(self, scheme):
        if NAME == "firefox" and scheme == "light":
            return  # As its preferences say.
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def cdp(self, command, **parameters):
        """What only Chromium can be told; a test that needs it is skipped in others."""
        if NAME != "chromium":
            raise unittest.SkipTest(f"{command} is of Chromium")
        return self.driver.execute_cdp_cmd(command, parameters)

    def faults(self):
        """What the console and the page's own witnesses have seen since the last call."""
        seen = self.js("const seen = window.faults ?? []; window.faults = []; return seen")
        if NAME == "firefox":
            return seen + self.driver.taken_entries()
        return seen + [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    # The list.

    def row(self, identifier):
        return self.one(f'.row[data-id="{identifier}"]')

    def in_row(self, identifier, selector):
        return f'.row[data-id="{identifier}"] {selector}'

    def state(self, identifier):
        return self.js(
            "return document.querySelector(`.row[data-id='${arguments[0]}']`)?.dataset.state ?? null", identifier)

    def until_state(self, identifier, state):
        self.until(lambda: self.state(identifier) == state, lambda: f"{identifier} is {state}, not {self.state(identifier)}")

    def button(self, identifier, action):
        return self.in_row(identifier, f'button[data-action="{action}"]')

    def names(self):
        """The names of the rows, from top to bottom."""
        return self.js("""
            return [...document.querySelectorAll('.row')]
              .sort((a, b) => a.getAttribute('aria-rowindex') - b.getAttribute('aria-rowindex'))
              .map((row) => row.querySelector('.row-name').textContent)""")
