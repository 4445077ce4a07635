"""Sizes as text."""

import re

MEBIBYTE = 1 << 20
GIBIBYTE = 1 << 30


def parse_size(text):
    match = re.fullmatch(r"(\d+)\s*(B|KiB|MiB|GiB)?", text)
    if not match:
        raise SystemExit(f"bench: not a size: '{text}' (as in 64MiB)")
    return int(match[1]) * {None: 1, "B": 1, "KiB": 1 << 10, "MiB": MEBIBYTE, "GiB": GIBIBYTE}[match[2]]


def size_text(size):
    for unit, name in ((GIBIBYTE, "GiB"), (MEBIBYTE, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.10g} {name}"
    return f"{size} B"
