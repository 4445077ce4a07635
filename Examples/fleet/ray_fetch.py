#!/usr/bin/env python3
"""Downloads a list with Ray: each task passes a part of the list to `ferry get`, and returns its results.

    pip install ray
    ray_fetch.py urls.txt /shared/data >results.jsonl

The list is divided by entries: the indented option lines below a URL stay with it, and an entry can be a line of JSON.

Ray restarts a task up to three times if its machine is lost, its ferry is killed, or its disk is full. The task then requests
the same files under the same names, and complete files are not fetched again. All files of one host are in one task, so a host
never sees more than one machine.
"""

import json
import os
import re
import subprocess
import sys
from urllib.parse import urlsplit

import ray

FERRY = os.environ.get("FERRY", "ferry")


class Unfinished(RuntimeError):
    """Not all files have ended."""


# Without retry_exceptions, Ray repeats a task only if its worker is lost.
@ray.remote(max_retries=3, retry_exceptions=[Unfinished])
def fetch(entries, directory):
    done = subprocess.run(
        [FERRY, "get", "-i", "-", "-d", directory, "--name", "{url-sha256:2}/{url-sha256}{ext}", "-j", "16",
         "--results", "-", "--allow-failures"],
        input="".join(entry + "\n" for entry in entries), stdout=subprocess.PIPE, text=True)
    # Failed files do not make the task fail: the results list them.
    if done.returncode != 0:
        raise Unfinished(f"ferry ended with {done.returncode} after {done.stdout.count(chr(10))} of {len(entries)} files")
    return [json.loads(line) for line in done.stdout.splitlines()]


def entries_of(lines):
    """The entries of a list: a URL or a line of JSON, with the indented option lines below it."""
    entries = []
    for line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if entries and line[0] in " \t" and not re.match("(https?|s3)://", text, re.IGNORECASE):
            entries[-1] += f"\n  {text}"
        else:
            entries.append(text)
    return entries


def host(entry):
    """The host of an entry's first URL."""
    if entry.startswith("{"):
        members = json.loads(entry.split("\n")[0])
        return urlsplit(members.get("url") or members["urls"][0]).hostname
    return urlsplit(entry.split()[0]).hostname


def by_host(entries, parts):
    groups = [[] for _ in range(parts)]
    places = {}
    for entry in entries:
        place = places.setdefault(host(entry), min(range(parts), key=lambda part: len(groups[part])))
        groups[place].append(entry)
    return [group for group in groups if group]


def main(path, directory, parts=16):
    with open(path, encoding="utf-8-sig") as file:
        entries = entries_of(file)
    # Ray says on standard output, too, which tasks it starts again: only results go there.
    results, sys.stdout = sys.stdout, sys.stderr
    ray.init(ignore_reinit_error=True, include_dashboard=False)
    waiting = [fetch.remote(group, directory) for group in by_host(entries, parts)]
    failed = 0
    while waiting:
        ready, waiting = ray.wait(waiting)
        for result in ray.get(ready[0]):
            failed += result["status"] != "ok"
            print(json.dumps(result), file=results, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
