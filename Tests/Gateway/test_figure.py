"""A blob through the gateway beside a direct fetch, at the rate of a gigabit link."""

import os
import time
import unittest
import urllib.request

from rig import PATIENCE, Case, Gateway, Slow, made_bytes

SIZE = 200_000_000


@unittest.skipUnless(os.environ.get("GATEWAY_FIGURE"), "GATEWAY_FIGURE is not set")
class Figure(Case):
    def test_blob(self):
        data = made_bytes(SIZE, 1)
        digest = self.digest(data)

        def answer(handler):
            asked = handler.headers.get("Range", "").removeprefix("bytes=")
            first, _, last = asked.partition("-")
            start, end = int(first or 0), min(SIZE, int(last) + 1) if last else SIZE
            ranged = [("Content-Range", f"bytes {start}-{end - 1}/{SIZE}")] if asked else []
            handler.give(
                206 if asked else 200,
                [*ranged, ("Content-Length", str(end - start)), ("ETag", '"x"'), ("Accept-Ranges", "bytes")],
                (memoryview(data)[at:min(at + (1 << 20), end)] for at in range(start, end, 1 << 20)))

        upstream = self.started(Slow(answer))
        upstream.rate = 117_000_000
        times = {"direct": [], "gateway": []}
        for run in range(3):
            gateway = Gateway(f"oci={upstream.url}/")
            try:
                for name, base in (("direct", upstream.url), ("gateway", gateway.url)):
                    start = time.monotonic()
                    with urllib.request.urlopen(f"{base}/v2/app/blobs/sha256:{digest}", timeout=PATIENCE) as got:
                        count = sum(len(piece) for piece in iter(lambda: got.read(1 << 20), b""))
                    times[name].append(time.monotonic() - start)
                    self.assertEqual(count, SIZE)
            finally:
                gateway.close()
        direct, through = min(times["direct"]), min(times["gateway"])
        print(f"direct {direct:.2f} s, through the gateway {through:.2f} s: {through / direct:.2f} times")


if __name__ == "__main__":
    unittest.main()
