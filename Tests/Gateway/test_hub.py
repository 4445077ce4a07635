"""huggingface_hub, as it is, with the gateway before a small server that speaks its API."""

import json
import os
import sys
import unittest
from pathlib import Path

from rig import PATIENCE, Case, Gateway, Slow, made_bytes

COMMIT = "0b" * 20
FETCH = """
import sys
from huggingface_hub import snapshot_download
print(snapshot_download(sys.argv[1], repo_type=sys.argv[2], local_dir=sys.argv[3], max_workers=2))
"""


class Hub(Slow):
    """One repository of each kind, with a large file that is stored elsewhere and small ones. `token` is needed if set."""

    def __init__(self, large, token=None):
        self.files = {"config.json": b'{"a": 1}', "data/notes.txt": b"text\n" * 100, "model.safetensors": large}
        self.token = token
        super().__init__(self.answer)
        # Another origin: that of the store, which gets no tokens.
        self.store = self.url.replace("127.0.0.1", "localhost")

    def answer(self, handler):
        path = handler.path.split("?")[0]
        if path.startswith("/cdn/"):
            # Signed: another server's secrets would be refused.
            if "Authorization" in handler.headers:
                return self.text(handler, 400, b"")
            return self.file(handler, self.files["model.safetensors"], [("ETag", '"stored"')])
        if self.token and handler.headers.get("Authorization") != f"Bearer {self.token}":
            return self.text(handler, 401, b"{}", [("X-Error-Code", "GatedRepo")])
        if path.startswith("/api/"):
            if "/tree/" in path:
                return self.json(handler, [self.entry(name) for name in self.files])
            return self.json(handler, {
                "id": "a/b", "sha": COMMIT, "private": False, "downloads": 0, "likes": 0, "tags": [],
                "siblings": [{"rfilename": name} for name in self.files]})
        name = path.partition("/resolve/")[2].partition("/")[2]
        data = self.files.get(name)
        if data is None:
            return self.text(handler, 404, b"", [("X-Error-Code", "EntryNotFound")])
        fields = [("X-Repo-Commit", COMMIT)]
        if name == "model.safetensors":
            return self.text(handler, 302, b"", fields + [
                ("Location", f"{self.store}/cdn/blob?signature=x"), ("X-Linked-Etag", f'"{Case.digest(data)}"'),
                ("X-Linked-Size", str(len(data))), ("X-Xet-Hash", "ab" * 32)])
        return self.file(handler, data, [*fields, ("ETag", f'"{Case.digest(data)[:40]}"')])

    def entry(self, name):
        data = self.files[name]
        entry = {"type": "file", "path": name, "size": len(data), "oid": Case.digest(data)[:40]}
        if name == "model.safetensors":
            entry |= {"lfs": {"oid": Case.digest(data), "size": len(data), "pointerSize": 130}, "xetHash": "ab" * 32}
        return entry

    def json(self, handler, value):
        self.text(handler, 200, json.dumps(value).encode(), [("Content-Type", "application/json")])

    @staticmethod
    def text(handler, status, text, fields=()):
        handler.give(status, [*fields, ("Content-Length", str(len(text)))], [text])

    @staticmethod
    def file(handler, data, fields):
        asked = handler.headers.get("Range", "")
        start, end = 0, len(data)
        if asked.startswith("bytes=") and "," not in asked:
            first, _, last = asked[6:].partition("-")
            start, end = int(first), min(len(data), int(last) + 1) if last else len(data)
            fields = [*fields, ("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")]
        handler.give(
            206 if asked else 200, [*fields, ("Content-Length", str(end - start)), ("Accept-Ranges", "bytes")],
            (data[at:min(at + 65536, end)] for at in range(start, end, 65536)))


class Snapshots(Case):
    def fetch(self, gateway, target, kind="model", token=None):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
        environment |= {
            "HF_ENDPOINT": f"{gateway.url}/gw/hf", "HF_HOME": str(self.folder / "hf-home"), "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        if token:
            environment["HF_TOKEN"] = token
        return self.process(
            [sys.executable, "-c", FETCH, "a/b", kind, str(target)], env=environment)

    def same(self, hub, target):
        for name, data in hub.files.items():
            self.assertEqual((Path(target) / name).read_bytes(), data, name)

    def test_killed_clients_and_daemons(self):
        hub = self.started(Hub(made_bytes(90_000_000, 1)))
        gateway = self.started(Gateway(f"hf={hub.url}/"))
        self.survives(hub, gateway, 90_000_000, lambda: self.fetch(gateway, self.folder / "got"))
        self.same(hub, self.folder / "got")
        sent = hub.sent["/cdn/blob"]
        self.succeeds(self.fetch(gateway, self.folder / "again"))
        self.same(hub, self.folder / "again")
        self.assertEqual(hub.sent["/cdn/blob"], sent)

    def test_kinds_and_tokens(self):
        hub = self.started(Hub(made_bytes(3_000_000, 2), token="hf_secret"))
        gateway = self.started(Gateway(f"hf={hub.url}/"))
        for kind in ("model", "dataset", "space"):
            self.succeeds(self.fetch(gateway, self.folder / kind, kind, "hf_secret"))
            self.same(hub, self.folder / kind)
        # The bytes of the three are the same: by their digest they were fetched once.
        self.assertEqual(hub.sent["/cdn/blob"], 3_000_000)
        for token in (None, "hf_other"):
            self.assertNotEqual(self.fetch(gateway, self.folder / "no", token=token).wait(PATIENCE), 0)
        for name in (gateway.folder / "state").rglob("*"):
            if name.is_file():
                self.assertNotIn(b"hf_secret", name.read_bytes(), name)


if __name__ == "__main__":
    unittest.main()
