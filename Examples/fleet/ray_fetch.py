#!/usr/bin/env python3
"""Downloads a list with Ray: each task passes a part of the list to `ferry get`, and returns its results.

    pip install ray
    ray_fetch.py urls.txt /shared/data >results.jsonl

Ray restarts a task up to three times if its machine is lost, its ferry is killed, or its disk is full. The task then requests
the same files under the same names, and complete files are not fetched again. All files of one host are in one task, so a host
never sees more than one machine.
"""

import json
import os
import subprocess
import sys
from urllib.parse import urlsplit

import ray

FERRY = os.environ.get("FERRY", "ferry")


class Unfinished(RuntimeError):
    """Not all files have ended."""


# Without retry_exceptions, Ray repeats a task only if its worker is lost.
@ray.remote(max_retries=3, retry_exceptions=[Unfinished])
def fetch(lines, directory):
    done = subprocess.run(
        [FERRY, "get", "-i", "-", "-d", directory, "--name", "{url-sha256:2}/{url-sha256}{ext}", "-j", "16",
         "--results", "-", "--allow-failures"],
        input="".join(line + "\n" for line in lines), stdout=subprocess.PIPE, text=True)
    # Failed files do not make the task fail: the results list them.
    if done.returncode != 0:
        raise Unfinished(f"ferry ended with {done.returncode} after {done.stdout.count(chr(10))} of {len(lines)} files")
    return [json.loads(line) for line in done.stdout.splitlines()]


def by_host(lines, parts):
    groups = [[] for _ in range(parts)]
    places = {}
    for line in lines:
        host = urlsplit(line.split()[0]).hostname
        place = places.setdefault(host, min(range(parts), key=lambda part: len(groups[part])))
        groups[place].append(line)
    return [group for group in groups if group]


def main(path, directory, parts=16):
    with open(path) as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    # Ray says on standard output, too, which tasks it starts again: only results go there.
    results, sys.stdout = sys.stdout, sys.stderr
    ray.init(ignore_reinit_error=True, include_dashboard=False)
    waiting = [fetch.remote(group, directory) for group in by_host(lines, parts)]
    failed = 0
    while waiting:
        ready, waiting = ray.wait(waiting)
        for result in ray.get(ready[0]):
            failed += result["status"] != "ok"
            print(json.dumps(result), file=results, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
