"""Firefox without geckodriver, which Debian has not: Selenium's commands as WebDriver BiDi, which Firefox speaks itself."""

import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import websocket
from selenium import webdriver
from selenium.common import exceptions
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.firefox.options import Options
from selenium.webdriver.remote.command import Command
from selenium.webdriver.remote.remote_connection import RemoteConnection

from servers import PATIENCE, end

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
MODIFIERS = {Keys.SHIFT, Keys.CONTROL, Keys.ALT, Keys.META}
# Beside what the browser sets by itself when it is remote-controlled.
PREFERENCES = {
    "ui.prefersReducedMotion": 1, "ui.systemUsesDarkTheme": 0, "intl.accept_languages": "en-US,en", "network.proxy.type": 0,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "browser.translations.enable": False, "security.fileuri.strict_origin_policy": False,
}

# What the classic commands do to an element, as functions of the page.
STALE = "element is gone"
CLICK_POINT = """async (element) => {
  if (!element.isConnected) throw new Error('element is gone');
  if (element.localName === 'option') {
    element.selected = true;
    for (const type of ['input', 'change']) element.closest('select').dispatchEvent(new Event(type, {bubbles: true}));
    return null;
  }
  element.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'});
  // The compositor, which directs the click, learns of the scroll with the next frame.
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const box = element.getClientRects()[0] ?? element.getBoundingClientRect();
  const x = (Math.max(0, box.left) + Math.min(innerWidth, box.right)) / 2;
  const y = (Math.max(0, box.top) + Math.min(innerHeight, box.bottom)) / 2;
  const hit = document.elementFromPoint(x, y);
  if (!hit || !(element.contains(hit) || hit.contains(element))) throw new Error(`covered by ${hit?.className}`);
  return [Math.floor(x), Math.floor(y)];
}"""
FOCUS = """(element) => {
  if (!element.isConnected) throw new Error('element is gone');
  if (document.activeElement === element) return;
  element.focus();
  if (typeof element.value === 'string' && /^(textarea|input)$/.test(element.localName)) {
    try { element.setSelectionRange(element.value.length, element.value.length); } catch { /* a type without a caret */ }
  }
}"""
TEXT = "(element) => (element.checkVisibility() ? element.innerText.trim() : '')"
ENABLED = "(element) => !element.matches(':disabled')"
RECT = """(element) => {
  const {x, y, width, height} = element.getBoundingClientRect();
  return {x: x + scrollX, y: y + scrollY, width, height};
}"""
WHOLE_FIND = "(selector) => [...document.querySelectorAll(selector)]"


class Process:
    """A browser with a profile of its own, and the socket of its remote control."""

    def __init__(self, profile):
        self.profile = Path(profile)
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
        (self.profile / "user.js").write_text("".join(lines))
        self.log = tempfile.TemporaryFile("w+b")
        binary = os.environ.get("FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
        self.process = subprocess.Popen(
            [binary, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.socket = websocket.create_connection(self.address() + "/session", timeout=PATIENCE, suppress_origin=True)

    def address(self):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            self.log.seek(0)
            if found := re.search(rb"WebDriver BiDi listening on (ws://\S+)", self.log.read()):
                return found[1].decode()
            time.sleep(0.05)
        raise AssertionError(f"Firefox opens no remote control (exit {self.process.poll()})")

    def close(self):
        self.socket.close()
        end(self.process)
        self.log.close()


class BiDi(RemoteConnection):
    """Carries out the commands of Selenium's driver; those that the tests use."""

    def __init__(self, profile):
        self.process = Process(profile)
        self.numbers = itertools.count(1)
        self.context = None
        self.entries = []

    # The protocol.

    def call(self, method, **parameters):
        number = next(self.numbers)
        self.process.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.process.socket.recv())
            if message.get("method") == "log.entryAdded":
                self.entries.append(message["params"])
            if message.get("id") != number:
                continue
            if message["type"] == "error":
                raise self.exception(message["error"], message["message"])
            return message["result"]

    @staticmethod
    def exception(kind, text):
        if kind in ("no such node", "no such element") or STALE in text:
            return exceptions.StaleElementReferenceException(text)
        return exceptions.NoSuchWindowException(text) if kind == "no such frame" else exceptions.WebDriverException(f"{kind}: {text}")

    def run(self, function, *arguments):
        answer = self.call(
            "script.callFunction", functionDeclaration=function, awaitPromise=True, target={"context": self.context},
            arguments=[self.encoded(argument) for argument in arguments], serializationOptions={"maxDomDepth": 0})
        if answer["type"] == "exception":
            raise self.exception("javascript error", answer["exceptionDetails"]["text"])
        return self.decoded(answer["result"])

    def encoded(self, value):
        match value:
            case None: return {"type": "null"}
            case bool(): return {"type": "boolean", "value": value}
            case int() | float(): return {"type": "number", "value": value}
            case str(): return {"type": "string", "value": value}
            case list() | tuple(): return {"type": "array", "value": [self.encoded(each) for each in value]}
            case {"element-6066-11e4-a52e-4f735466cecf": shared}: return {"sharedId": shared}
            case dict(): return {"type": "object", "value": [[name, self.encoded(each)] for name, each in value.items()]}

    def decoded(self, value):
        match value["type"]:
            case "undefined" | "null": return None
            case "node": return {ELEMENT: value["sharedId"]}
            case "array" | "set" | "nodelist" | "htmlcollection": return [self.decoded(each) for each in value.get("value", [])]
            case "object": return {name: self.decoded(each) for name, each in value.get("value", [])}
            case "number" if isinstance(value["value"], str): return float(value["value"].replace("Infinity", "inf"))
            case _: return value.get("value")

    # The commands.

    def execute(self, command, params):
        action = getattr(self, f"do_{command}", None)
        if action is None:
            raise exceptions.WebDriverException(f"{command} is not carried out for Firefox: see {__file__}")
        return {"value": action(params or {})}

    def do_newSession(self, _):
        session = self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        # In the first tab the field for addresses has the focus.
        first = self.call("browsingContext.getTree")["contexts"][0]["context"]
        self.do_switchToWindow(self.do_newWindow({"type": "tab"}))
        self.call("browsingContext.close", context=first)
        return session

    def do_quit(self, _): self.process.close()
    def do_setTimeouts(self, _): pass
    def do_get(self, params): self.call("browsingContext.navigate", context=self.context, url=params["url"], wait="complete")
    def do_refresh(self, _): self.call("browsingContext.reload", context=self.context, wait="complete")
    def do_goBack(self, _): self.call("browsingContext.traverseHistory", context=self.context, delta=-1)
    def do_getCurrentUrl(self, _): return self.run("() => location.href")
    def do_getTitle(self, _): return self.run("() => document.title")
    def do_screenshot(self, _): return self.call("browsingContext.captureScreenshot", context=self.context)["data"]

    def do_w3cGetCurrentWindowHandle(self, _): return self.context
    def do_w3cGetWindowHandles(self, _): return [each["context"] for each in self.call("browsingContext.getTree")["contexts"]]
    def do_newWindow(self, params):
        return {"handle": self.call("browsingContext.create", type=params["type"] or "tab")["context"]}
    def do_switchToWindow(self, params):
        self.call("browsingContext.activate", context=params["handle"])
        self.context = params["handle"]
    def do_close(self, _): self.call("browsingContext.close", context=self.context)

    def do_w3cExecuteScript(self, params):
        return self.run(f"async function () {{ {params['script']} }}", *params["args"])

    def do_findElements(self, params): return self.run(WHOLE_FIND, params["value"])
    def do_w3cGetActiveElement(self, _): return self.run("() => document.activeElement ?? document.body")
    def do_getElementText(self, params): return self.run(TEXT, {ELEMENT: params["id"]})
    def do_isElementEnabled(self, params): return self.run(ENABLED, {ELEMENT: params["id"]})
    def do_getElementRect(self, params): return self.run(RECT, {ELEMENT: params["id"]})

    def do_clickElement(self, params):
        point = self.run(CLICK_POINT, {ELEMENT: params["id"]})
        if point is not None:
            self.act([{"type": "pointer", "id": "click", "parameters": {"pointerType": "mouse"}, "actions": [
                {"type": "pointerMove", "x": point[0], "y": point[1]}, {"type": "pointerDown", "button": 0},
                {"type": "pointerUp", "button": 0}]}])

    def do_sendKeysToElement(self, params):
        self.run(FOCUS, {ELEMENT: params["id"]})
        held, actions = [], []
        for key in params["text"]:
            if key in MODIFIERS and key not in held:
                held.append(key)
                actions.append({"type": "keyDown", "value": key})
                continue
            if key in MODIFIERS or key == Keys.NULL:
                for each in held if key == Keys.NULL else [key]:
                    actions.append({"type": "keyUp", "value": each})
                held = [] if key == Keys.NULL else [each for each in held if each != key]
                continue
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        actions += [{"type": "keyUp", "value": key} for key in held]
        self.act([{"type": "key", "id": "keys", "actions": actions}])

    def do_actions(self, params):
        def translated(action):
            action = {name: value for name, value in action.items() if name != "duration" or action["type"] in ("pause", "pointerMove")}
            if isinstance(action.get("origin"), dict):
                action["origin"] = {"type": "element", "element": {"sharedId": action["origin"][ELEMENT]}}
            return action | {name: int(action[name]) for name in ("x", "y") if name in action}
        self.act([source | {"actions": [translated(each) for each in source["actions"]]} for source in params["actions"]])

    def do_clearActionState(self, _): self.call("input.releaseActions", context=self.context)

    def act(self, sources): self.call("input.performActions", context=self.context, actions=sources)


class Driver(webdriver.Remote):
    """Selenium's driver, and what of the browser as a whole the tests set."""

    def __init__(self, profile, witness):
        self.bidi = BiDi(profile)
        super().__init__(command_executor=self.bidi, options=Options())
        self.bidi.call("script.addPreloadScript", functionDeclaration=f"() => {{ {witness} }}")

    def set_language(self, tags):
        self.bidi.call("emulation.setLocaleOverride", locale=tags.split(",")[0], contexts=[self.bidi.context])

    def set_size(self, width, height, scale):
        self.bidi.call("browsingContext.setViewport", context=self.bidi.context, viewport={"width": width, "height": height}, devicePixelRatio=scale)

    def taken_entries(self):
        """What the console has said since the last call."""
        self.bidi.run("() => null")  # What came before it has come by now.
        entries, self.bidi.entries = self.bidi.entries, []
        return [str(entry["text"]) for entry in entries if entry["level"] in ("error", "warn")]
