"""What Schemathesis sends, kept on this machine: downloads come from the origin, files go below one folder, and of commands
only `true` is run. Loaded by the tool itself (SCHEMATHESIS_HOOKS)."""

import os
import zlib

import schemathesis

ORIGIN = os.environ["DOCUMENT_ORIGIN"]
FOLDER = os.environ["DOCUMENT_FOLDER"]
# Downloads that are listed: half of all identifiers are one of these, so that more is tried than 404.
LISTED = os.environ["DOCUMENT_LISTED"].split()


def number(text):
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def url(text):
    """Half of what is made up is a file of the origin; nothing else leads anywhere."""
    if number(text) % 2 or text.lower().lstrip().startswith("http"):
        return f"{ORIGIN}/file/1k/f{number(text) % 50}"
    return text


def place(text):
    return f"{FOLDER}/d{number(text) % 20}" if text.startswith("/") else text


def tame(value, key=None):
    if isinstance(value, dict):
        return {name: tame(member, name) for name, member in value.items()}
    if isinstance(value, list):
        if key == "launchCommand":
            return ["/bin/true"] if value and all(isinstance(word, str) for word in value) else value
        if key == "ids":
            return [LISTED[number(each) % len(LISTED)] if isinstance(each, str) and len(each) % 2 else each for each in value]
        return [tame(each, key) for each in value]
    # At a byte a second, whoever reads a file while it is fetched would wait for minutes.
    if key in ("rateLimit", "minSpeed") and isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1 << 20:
        return value + (1 << 20)
    if isinstance(value, str):
        if key in ("url", "urls"):
            return url(value)
        if key in ("directory", "path", "part"):
            return place(value)
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    case.body = tame(case.body)
    session = (case.headers or {}).get("Ferry-Session")
    if session is not None and number(str(session)) % 2:
        del case.headers["Ferry-Session"]  # Of the others there are few that exist, and none over TCP.
    identifier = (case.path_parameters or {}).get("id")
    if isinstance(identifier, str) and number(identifier) % 2 and case.path.startswith("/downloads/"):
        case.path_parameters["id"] = LISTED[number(identifier) // 2 % len(LISTED)]
