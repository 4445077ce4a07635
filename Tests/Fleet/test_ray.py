"""The example with Ray, as it is, before a server of the test's own."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from origin import serve

EXAMPLE = Path(__file__).resolve().parents[2] / "Examples/fleet/ray_fetch.py"


# Ends as if it were killed when a list is given to it for the first time.
MORTAL = """#!/bin/sh
lines=$(cat)
marker={folder}/$(printf '%s' "$lines" | sha256sum | cut -c 1-16)
[ -e "$marker" ] || {{ : >"$marker"; kill -KILL $$; }}
printf '%s\\n' "$lines" | {ferry} "$@"
"""
# Its processes take minutes to start where others are busy; its token is for clusters that others reach.
RAY = {"RAY_raylet_start_wait_time_s": "300", "RAY_AUTH_MODE": "disabled"}


class Ray(unittest.TestCase):
    def test_example(self):
        """Each task's first ferry is killed, and Ray starts the task again."""
        port = serve(self)
        with tempfile.TemporaryDirectory() as folder:
            lines = [f"http://127.0.0.1:{port}/f/{index}.txt" for index in range(200)]
            lines.append(f"http://localhost:{port}/gone/1")
            (Path(folder) / "urls.txt").write_text("".join(line + "\n" for line in lines))
            mortal = Path(folder) / "mortal"
            mortal.write_text(MORTAL.format(folder=folder, ferry=os.environ["FERRY"]))
            mortal.chmod(0o755)
            done = subprocess.run(
                [sys.executable, EXAMPLE, "urls.txt", f"{folder}/data"], cwd=folder, stdout=subprocess.PIPE, text=True,
                env={**os.environ, **RAY, "HOME": folder, "FERRY": str(mortal),
                     "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}, timeout=900)
            results = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len([path for path in Path(folder).iterdir() if len(path.name) == 16]), 2)
            self.assertEqual(sorted(result["url"] for result in results), sorted(lines))
            for result in results:
                if result["status"] == "ok":
                    content = Path(result["path"]).read_text()
                    self.assertEqual(content, result["url"].removeprefix("http://"))
                else:
                    self.assertEqual((result["url"], result["httpStatus"]), (lines[-1], 404))


if __name__ == "__main__":
    unittest.main()
