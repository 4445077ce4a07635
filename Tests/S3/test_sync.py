"""ferry sync into a bucket: from a server, another prefix and a directory; kills at random; another sync at the same time."""

import hashlib
import json
import os
import random
import signal
import subprocess
import threading
import unittest
from pathlib import Path

import test_source
from servers import PATIENCE, end
from slow_origin import SlowOrigin
from store import BUCKET
from test_source import Case

MIB = 1 << 20
MANIFEST = "ferry-manifest.jsonl"


def setUpModule():
    test_source.setUpModule()
    global origin
    origin = SlowOrigin(1 << 30)


def tearDownModule():
    origin.stop()
    test_source.tearDownModule()


class Sync(Case):
    def setUp(self):
        super().setUp()
        self.recorded = b""

    def gate(self):
        return test_source.gate

    def store(self):
        return test_source.store

    def fill(self, prefix, sizes):
        files = {name: random.Random(name + prefix).randbytes(size) for name, size in sizes.items()}
        for name, data in files.items():
            self.store().s3.put_object(Bucket=BUCKET, Key=f"{prefix}/{name}", Body=data)
        return files

    def expect(self, prefix, files):
        found = self.store().objects(f"{prefix}/")
        self.assertEqual(set(found), {f"{prefix}/{name}" for name in [*files, MANIFEST]})
        for name, data in files.items():
            self.assertEqual(self.store().bytes(f"{prefix}/{name}"), data, name)
        *lines, last = self.store().bytes(f"{prefix}/{MANIFEST}").decode().splitlines()
        self.assertEqual(json.loads(last), {"files": len(files)})
        records = {record["path"]: record for record in map(json.loads, lines)}
        for name, data in files.items():
            self.assertEqual(records[name]["checksum"], "sha-256=" + hashlib.sha256(data).hexdigest())
            tag = self.store().s3.head_object(Bucket=BUCKET, Key=f"{prefix}/{name}")["ETag"]
            self.assertEqual(records[name]["storedETag"], tag)

    def staged(self):
        directory = Path(self.environment["XDG_STATE_HOME"]) / "ferry" / "staging"
        return sorted(path.name for path in directory.iterdir()) if directory.exists() else []

    def kill(self, process):
        """Kills a sync, and notes which multipart uploads it has recorded."""
        end(process, signal.SIGKILL)
        process.communicate()
        directory = Path(self.environment["XDG_STATE_HOME"]) / "ferry" / "staging"
        for path in directory.glob("*"):
            if path.stat().st_size < MIB:
                self.recorded += path.read_bytes()

    def expect_no_recorded_upload(self, prefix):
        """An upload stays in the store only if a kill came between its creation there and its record here."""
        left = [upload["UploadId"] for upload in self.store().uploads(prefix)]
        self.assertEqual([upload for upload in left if upload.encode() in self.recorded], [])

    def bodies(self):
        """The requests that read or write an object that is a file."""
        return [
            asked for asked in self.gate().asked
            if "list-type" not in asked.target and MANIFEST not in asked.target and asked.method != "HEAD"]

    def test_prefix_to_prefix(self):
        files = self.fill("from", {"a.bin": 1000, "d/b ü+.bin": 3 * MIB, "d/c": 0, "d/e/large": 20 * MIB})
        source, target = f"s3://{BUCKET}/from/", f"s3://{BUCKET}/to/"
        self.store().s3.put_object(Bucket=BUCKET, Key="together", Body=b"other")
        self.ferry("sync", source, target, "-q")
        self.expect("to", files)
        self.assertEqual(self.staged(), [])
        self.gate().forget()
        _, err = self.ferry("sync", source, target)
        self.assertIn("4 unchanged, 0 fetched", err)
        self.assertEqual(self.bodies(), [])
        self.assertFalse([asked for asked in self.gate().asked if asked.method == "PUT"])

        files["a.bin"] = b"new"
        self.store().s3.put_object(Bucket=BUCKET, Key="from/a.bin", Body=b"new")
        self.store().s3.delete_object(Bucket=BUCKET, Key="from/d/c")
        files.pop("d/c")
        out, _ = self.ferry("sync", source, target, "--dry-run")
        self.assertIn("fetch: a.bin", out)
        out, _ = self.ferry("sync", source, target, "--delete", "--max-delete", "1")
        self.assertEqual(out, f"s3://{BUCKET}/to/a.bin\n")
        self.expect("to", files)
        self.assertEqual(self.store().bytes("together"), b"other")

    def test_list_of_urls_and_objects_of_others(self):
        files = {f"f{number}": random.Random(number).randbytes(2000) for number in range(3)}
        lines = [json.dumps({"url": origin.serve(f"sync-{name}", data), "path": name}) for name, data in files.items()]
        (self.place / "list.jsonl").write_text("\n".join(lines) + "\n")
        target = f"s3://{BUCKET}/listed/"
        self.store().s3.put_object(Bucket=BUCKET, Key="listed/f1", Body=b"mine")
        _, err = self.ferry("sync", "list.jsonl", target, code=9)
        self.assertIn("incomplete: f1", err)
        self.assertEqual(self.store().bytes("listed/f1"), b"mine")
        self.ferry("sync", "list.jsonl", target, "--on-conflict", "overwrite")
        self.expect("listed", files)

    def test_another_sync_at_the_same_time(self):
        files = self.fill("twice", {"a": 10, "b": 20})
        source, target = f"s3://{BUCKET}/twice/", f"s3://{BUCKET}/both/"

        def rule(asked):
            if asked.method == "PUT" and MANIFEST in asked.target:
                self.store().s3.put_object(Bucket=BUCKET, Key=f"both/{MANIFEST}", Body=b'{"files":0}\n')
            return None

        self.gate().rule = rule
        _, err = self.ferry("sync", source, target, code=9)
        self.assertIn("another sync has written the manifest", err)
        self.assertEqual(self.store().bytes(f"both/{MANIFEST}"), b'{"files":0}\n')
        self.gate().forget()
        self.ferry("sync", source, target)
        self.assertEqual(self.bodies(), [])
        self.expect("both", files)

    def test_killed_at_random(self):
        chance = random.Random(int(os.environ.get("SEED", "7")))
        sizes = {f"small/{number:03}": 500 + number for number in range(60)} | {"large": 30 * MIB, "middle": 2 * MIB}
        files = self.fill("start", sizes)
        source, target = f"s3://{BUCKET}/start/", f"s3://{BUCKET}/killed-set/"
        for _ in range(15):
            process = self.start("sync", source, target, "-q", "--min-free", "0")
            try:
                process.communicate(timeout=chance.uniform(0.1, 1.0))
                break
            except subprocess.TimeoutExpired:
                self.kill(process)
        self.ferry("sync", source, target, "-q", "--min-free", "0")
        self.expect("killed-set", files)
        self.assertEqual(self.staged(), [])
        self.expect_no_recorded_upload("killed-set/")

    def tree(self, files):
        """Writes files of a directory with a date long ago."""
        directory = self.place / "tree"
        for name, data in files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            os.utime(path, (1700000000, 1700000000))
        return directory

    def test_directory(self):
        files = {
            name: random.Random(name).randbytes(size) for name, size in
            {"a.bin": 1000, "d/b ü+%&.bin": 3 * MIB, "d/c": 0, "d/e/large": 20 * MIB, ".hidden": 5, "x.old": 7,
             "it's (a) [name]!": 9}.items()}
        directory = self.tree(files)
        (directory / "link").symlink_to("/etc/passwd")
        os.mkfifo(directory / "pipe")
        target = f"s3://{BUCKET}/tree/"
        out, _ = self.ferry("sync", "tree", target, "--dry-run")
        self.assertIn("store: a.bin (1.0 KB): there is no such object\n", out)
        self.assertEqual(self.store().objects("tree/"), {})
        out, err = self.ferry("sync", "tree", target)
        self.assertIn(f"s3://{BUCKET}/tree/a.bin\n", out)
        self.assertEqual(len(out.splitlines()), len(files))
        self.assertIn("left out: link: a symbolic link, which is not followed\n", err)
        self.assertIn("left out: pipe: neither a file nor a directory\n", err)
        self.assertIn(f"{len(files)} files listed: 0 unchanged, {len(files)} stored", err)
        self.expect("tree", files)
        self.assertEqual(self.staged(), [])
        back = self.place / "back"
        subprocess.run(
            ["aws", "s3", "sync", "--quiet", target, str(back)],
            env=self.environment | {"AWS_ENDPOINT_URL": self.store().url, "AWS_DEFAULT_REGION": "us-east-1"}, check=True)
        for name, data in files.items():
            self.assertEqual((back / name).read_bytes(), data, name)

        self.gate().forget()
        out, err = self.ferry("sync", "tree", target)
        self.assertIn(f"{len(files)} unchanged, 0 stored", err)
        self.assertEqual((out, self.bodies()), ("", []))
        self.assertFalse([asked for asked in self.gate().asked if asked.method == "PUT"])

        # Written: other bytes under the same size; the date alone; gone.
        files["a.bin"] = random.Random("other").randbytes(1000)
        self.tree({"a.bin": files["a.bin"]})
        os.utime(directory / "a.bin", (1700000001, 1700000001))
        os.utime(directory / "d/e/large", (1700000001, 1700000001))
        (directory / "d/c").unlink()
        files.pop("d/c")
        self.gate().forget()
        out, _ = self.ferry("sync", "tree", target, "--delete")
        self.assertEqual(out, f"s3://{BUCKET}/tree/a.bin\n")
        self.assertEqual([asked.method for asked in self.bodies()], ["PUT", "DELETE"])
        self.expect("tree", files)

    def test_directory_killed_at_random(self):
        chance = random.Random(int(os.environ.get("SEED", "7")))
        sizes = {f"small/{number:03}": 500 + number for number in range(60)} | {"large": 40 * MIB, "middle": 2 * MIB}
        files = {name: random.Random(name).randbytes(size) for name, size in sizes.items()}
        self.tree(files)
        target = f"s3://{BUCKET}/killed-tree/"

        for _ in range(15):
            self.gate().forget()
            requests = chance.randint(1, 40)
            process = self.start("sync", "tree", target, "-q")
            self.wait(lambda: process.poll() is not None or len(self.gate().asked) >= requests)
            if process.poll() is not None:
                break
            self.kill(process)
        self.gate().forget()
        self.ferry("sync", "tree", target, "-q")
        self.expect("killed-tree", files)
        self.assertEqual(self.staged(), [])
        self.expect_no_recorded_upload("killed-tree/")
        self.gate().forget()
        self.ferry("sync", "tree", target, "-q")
        self.assertEqual(self.bodies(), [])

    def test_directory_stopped(self):
        files = {"large": random.Random("large").randbytes(40 * MIB), "small": b"small"}
        self.tree(files)
        target = f"s3://{BUCKET}/stopped-tree/"

        ended = threading.Event()

        def rule(asked):
            if "partNumber=3" in asked.target:
                ended.wait(PATIENCE)
            return None

        self.gate().rule = rule
        process = self.start("sync", "tree", target, "-x", "1")
        self.wait(lambda: any("partNumber=3" in asked.target for asked in self.gate().asked))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        ended.set()
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("run the same command again to resume", err)
        self.gate().forget()
        self.ferry("sync", "tree", target)
        sent = [asked for asked in self.gate().asked if "partNumber=" in asked.target]
        self.assertLess(len(sent), 5)
        self.expect("stopped-tree", files)
        self.assertEqual(self.store().uploads("stopped-tree/"), [])

    def test_directory_that_is_written_meanwhile(self):
        files = {"log": random.Random("log").randbytes(9 * MIB)}
        directory = self.tree(files)
        target = f"s3://{BUCKET}/log-tree/"

        def rule(asked):
            if "partNumber=2" in asked.target:
                with open(directory / "log", "ab") as file:
                    file.write(b"more")
            return None

        self.gate().rule = rule
        _, err = self.ferry("sync", "tree", target, code=9)
        self.assertIn("was written while it was read, and is not stored", err)
        self.assertEqual(set(self.store().objects("log-tree/")), {f"log-tree/{MANIFEST}"})
        self.gate().forget()
        self.ferry("sync", "tree", target)
        self.expect("log-tree", {"log": (directory / "log").read_bytes()})
        self.assertEqual(self.store().uploads("log-tree/"), [])

    def test_refusals(self):
        _, err = self.ferry("sync", f"s3://{BUCKET}/x/", f"s3://{BUCKET}/x/y/", code=2)
        self.assertIn("cannot be synced into itself", err)
        for words in (["--backup-dir", "old"], ["--daemon"]):
            self.ferry("sync", f"s3://{BUCKET}/x/", f"s3://{BUCKET}/z/", *words, code=2)
        self.ferry("verify", f"s3://{BUCKET}/x/", code=2)


if __name__ == "__main__":
    unittest.main()
