"""s3:// as destination: conflicts, several parts, kills at random, answers that are lost; aws and rclone read what was written."""

import base64
import hashlib
import os
import random
import re
import signal
import subprocess
import threading
import time
import unittest
import urllib.parse
from pathlib import Path

import store as stores
import test_source
from servers import PATIENCE, end, program
from slow_origin import SlowOrigin
from store import BUCKET, Gate
from test_source import Case

MIB = 1 << 20


def setUpModule():
    test_source.setUpModule()
    global origin
    origin = SlowOrigin(1 << 30)


def tearDownModule():
    origin.stop()
    test_source.tearDownModule()


def gate():
    return test_source.gate


def store():
    return test_source.store


class Destination(Case):
    def source(self, name, size):
        data = random.Random(name).randbytes(size)
        return origin.serve(urllib.parse.quote(name, safe="+"), data), data

    def staged(self):
        directory = Path(self.environment["XDG_STATE_HOME"]) / "ferry" / "staging"
        return sorted(path.name for path in directory.iterdir()) if directory.exists() else []

    def sent(self):
        return [asked for asked in gate().asked if "partNumber=" in asked.target]


class Small(Destination):
    def test_file_becomes_an_object_with_a_checksum(self):
        url, data = self.source("small ü+.bin", 100_000)
        out, _ = self.ferry("get", url, "-d", f"s3://{BUCKET}/small")
        self.assertEqual(out, f"s3://{BUCKET}/small/small%20%C3%BC%2B.bin\n")
        self.assertEqual(store().bytes("small/small ü+.bin"), data)
        found = store().s3.head_object(Bucket=BUCKET, Key="small/small ü+.bin", ChecksumMode="ENABLED")
        self.assertEqual(found["ChecksumSHA256"], base64.b64encode(hashlib.sha256(data).digest()).decode())
        put = [asked for asked in gate().asked if asked.method == "PUT"]
        self.assertEqual([asked.headers["if-none-match"] for asked in put], ["*"])
        self.assertEqual(self.staged(), [])

    def test_empty_file(self):
        url, _ = self.source("empty.bin", 0)
        self.ferry("get", url, "-o", f"s3://{BUCKET}/empty/e")
        self.assertEqual(store().bytes("empty/e"), b"")

    def test_rules_for_an_object_that_is_there(self):
        url, data = self.source("rule.bin", 5000)
        target = f"s3://{BUCKET}/rules/"
        store().s3.put_object(Bucket=BUCKET, Key="rules/rule.bin", Body=b"other")
        out, _ = self.ferry("get", url, "-d", target)
        self.assertEqual(out, target + "rule%20%281%29.bin\n")
        _, err = self.ferry("get", url, "-d", target, "--on-conflict", "fail", code=9)
        self.assertIn("already", err)
        gate().forget()
        self.ferry("get", url, "-d", target, "--on-conflict", "skip")
        self.assertFalse([asked for asked in gate().asked if asked.method == "PUT"])
        self.assertEqual(store().bytes("rules/rule.bin"), b"other")
        self.ferry("get", url, "-d", target, "--on-conflict", "overwrite")
        self.assertEqual(store().bytes("rules/rule.bin"), data)
        # The same content is no conflict.
        self.ferry("get", url, "-d", target)
        self.assertEqual(sorted(store().objects("rules/")), ["rules/rule (1).bin", "rules/rule.bin"])

    def test_list_with_names(self):
        first, _ = self.source("one.bin", 10)
        second, _ = self.source("two.bin", 20)
        (self.place / "list").write_text(f"{first}\n  out=sub/1.bin\n{second}\n  dir=d\n")
        self.ferry("get", "-i", "list", "-d", f"s3://{BUCKET}/named")
        self.assertEqual(store().objects("named/"), {"named/sub/1.bin": 10, "named/d/two.bin": 20})

    def test_answer_that_is_lost(self):
        url, data = self.source("lost.bin", 5000)
        gate().rule = lambda asked: Gate.LOST if asked.method == "PUT" and len(self.puts()) == 1 else None
        self.ferry("get", url, "-d", f"s3://{BUCKET}/lost")
        self.assertEqual(len(self.puts()), 2)
        self.assertEqual(store().objects("lost/"), {"lost/lost.bin": 5000})

    def puts(self):
        return [asked for asked in gate().asked if asked.method == "PUT"]


class Parts(Destination):
    def test_file_of_several_parts(self):
        url, data = self.source("parts.bin", 30 * MIB + 12345)
        self.ferry("get", url, "-d", f"s3://{BUCKET}/parts/")
        self.assertEqual(len(self.sent()), 4)
        for asked in self.sent():
            self.assertEqual(
                asked.headers["x-amz-checksum-sha256"], base64.b64encode(hashlib.sha256(asked.body).digest()).decode())
        found = store().s3.head_object(Bucket=BUCKET, Key="parts/parts.bin", ChecksumMode="ENABLED")
        bodies = sorted((int(re.search(r"partNumber=(\d+)", asked.target)[1]), asked.body) for asked in self.sent())
        parts = hashlib.sha256(b"".join(hashlib.sha256(body).digest() for _, body in bodies))
        # AWS appends the number of parts, moto does not.
        self.assertEqual(found["ChecksumSHA256"].split("-")[0], base64.b64encode(parts.digest()).decode())
        self.assertEqual(self.staged(), [])
        self.assertEqual(store().uploads("parts/"), [])
        self.read_back("parts", data)

    def read_back(self, prefix, data):
        """aws and rclone read what is there, and so does Ferry."""
        environment = self.environment | {
            "AWS_ENDPOINT_URL": store().url, "AWS_DEFAULT_REGION": "us-east-1", "RCLONE_CONFIG": "/dev/null",
            "RCLONE_CONFIG_S_TYPE": "s3", "RCLONE_CONFIG_S_PROVIDER": "Other", "RCLONE_CONFIG_S_ENV_AUTH": "true",
            "RCLONE_CONFIG_S_ENDPOINT": store().url, "RCLONE_CONFIG_S_REGION": "us-east-1"}
        directory = self.place / "mine"
        directory.mkdir()
        (directory / f"{prefix}.bin").write_bytes(data)
        subprocess.run(
            ["aws", "s3", "cp", "--quiet", f"s3://{BUCKET}/{prefix}/{prefix}.bin", "aws.bin"],
            env=environment, cwd=self.place, check=True)
        self.assertEqual((self.place / "aws.bin").read_bytes(), data)
        subprocess.run(
            ["rclone", "check", "--download", "mine", f"S:{BUCKET}/{prefix}"], env=environment, cwd=self.place, check=True,
            stderr=subprocess.DEVNULL)
        self.ferry("get", f"s3://{BUCKET}/{prefix}/{prefix}.bin", "-o", "ferry.bin")
        self.assertEqual((self.place / "ferry.bin").read_bytes(), data)

    def test_killed_at_random(self):
        url, data = self.source("killed.bin", 60 * MIB)
        chance = random.Random(int(os.environ.get("SEED", "7")))

        def rule(asked):
            if "partNumber=" in asked.target:
                time.sleep(0.15)
            return None

        gate().rule = rule
        kills = 0
        while kills < 25:
            process = self.start("get", url, "-d", f"s3://{BUCKET}/killed", "-q", "--min-free", "0")
            try:
                process.communicate(timeout=chance.uniform(0.1, 1.5))
                break
            except subprocess.TimeoutExpired:
                end(process, signal.SIGKILL)
                process.communicate()
                kills += 1
                # Nothing half is visible.
                objects = store().objects("killed/")
                self.assertIn(objects, ({}, {"killed/killed.bin": 60 * MIB}))
                # It was killed at its end: the next one would be another download.
                if objects and not self.staged():
                    break
        gate().rule = lambda asked: None
        self.ferry("get", url, "-d", f"s3://{BUCKET}/killed", "--on-conflict", "skip")
        self.assertEqual(store().objects("killed/"), {"killed/killed.bin": 60 * MIB})
        self.assertEqual(store().bytes("killed/killed.bin"), data)
        self.assertEqual(self.staged(), [])
        # Each kill repeats the parts at most that were being sent.
        self.assertLessEqual(len(self.sent()), 8 + 4 * kills)

    def test_parts_that_are_there_are_not_sent_again(self):
        url, data = self.source("resumed.bin", 40 * MIB)

        killed = threading.Event()

        def rule(asked):
            if "partNumber=5" in asked.target:
                killed.wait(PATIENCE)
            return None

        gate().rule = rule
        process = self.start("get", url, "-d", f"s3://{BUCKET}/resumed", "-q")
        self.wait(lambda: len(self.sent()) >= 5 and self.there() >= 4)
        end(process, signal.SIGKILL)
        killed.set()
        process.communicate()
        gate().forget()
        out, err = self.ferry("get", "-v", url, "-d", f"s3://{BUCKET}/resumed")
        self.assertIn("resuming the upload", err)
        self.assertLessEqual(len(self.sent()), 1)
        self.assertEqual(store().bytes("resumed/resumed.bin"), data)
        self.assertEqual(store().uploads("resumed/"), [])

    def there(self):
        uploads = store().uploads("resumed/")
        if not uploads:
            return 0
        found = store().s3.list_parts(Bucket=BUCKET, Key=uploads[0]["Key"], UploadId=uploads[0]["UploadId"])
        return len(found.get("Parts", []))

    def test_answer_to_the_completion_is_lost(self):
        url, data = self.source("complete.bin", 20 * MIB)

        def rule(asked):
            isCompletion = asked.method == "POST" and "uploadId=" in asked.target
            return Gate.LOST if isCompletion and len(self.completions()) == 1 else None

        gate().rule = rule
        self.ferry("get", url, "-d", f"s3://{BUCKET}/complete")
        self.assertEqual(store().objects("complete/"), {"complete/complete.bin": 20 * MIB})
        self.assertEqual(store().bytes("complete/complete.bin"), data)

    def test_killed_before_the_answer_to_the_completion(self):
        url, data = self.source("ended.bin", 20 * MIB)
        gate().rule = lambda asked: Gate.LOST if asked in self.completions() else None
        process = self.start("get", url, "-d", f"s3://{BUCKET}/ended", "-q")
        self.wait(lambda: store().objects("ended/"))
        end(process, signal.SIGKILL)
        process.communicate()
        gate().forget()
        self.assertTrue(self.staged())
        self.ferry("get", url, "-d", f"s3://{BUCKET}/ended")
        self.assertEqual(self.sent(), [])
        self.assertEqual(store().objects("ended/"), {"ended/ended.bin": 20 * MIB})
        self.assertEqual(self.staged(), [])

    def completions(self):
        return [asked for asked in gate().asked if asked.method == "POST" and "uploadId=" in asked.target]

    def test_completion_that_fails_with_status_200(self):
        url, data = self.source("late.bin", 10 * MIB)
        gate().rule = lambda asked: (
            (200, {}, b"<Error><Code>InternalError</Code></Error>")
            if asked in self.completions() and len(self.completions()) == 1 else None)
        self.ferry("get", url, "-d", f"s3://{BUCKET}/late")
        self.assertEqual(store().bytes("late/late.bin"), data)

    def test_part_that_is_damaged_on_its_way_is_not_taken(self):
        url, data = self.source("damaged.bin", 10 * MIB)
        gate().rule = lambda asked: (
            (400, {}, b"<Error><Code>BadDigest</Code></Error>") if "partNumber=1" in asked.target else None)
        _, err = self.ferry("get", url, "-d", f"s3://{BUCKET}/damaged", code=4)
        self.assertIn("BadDigest", err)
        self.assertEqual(store().objects("damaged/"), {})
        self.assertTrue(self.staged())

    def test_other_object_that_came_first_stays(self):
        url, data = self.source("first.bin", 10 * MIB)

        def rule(asked):
            if asked in self.completions() and len(self.completions()) == 1:
                store().s3.put_object(Bucket=BUCKET, Key="first/first.bin", Body=b"other")
            return None

        gate().rule = rule
        out, _ = self.ferry("get", url, "-d", f"s3://{BUCKET}/first")
        self.assertEqual(out, f"s3://{BUCKET}/first/first%20%281%29.bin\n")
        self.assertEqual(store().bytes("first/first.bin"), b"other")
        self.assertEqual(store().bytes("first/first (1).bin"), data)
        self.assertEqual(store().uploads("first/"), [])

    def test_memory_is_constant(self):
        url, data = self.source("memory.bin", 200 * MIB)
        process = self.start("get", url, "-d", f"s3://{BUCKET}/memory", "-q", "--min-free", "0")
        most = 0
        while process.poll() is None:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
                most = max([most, *(int(number) for number in re.findall(r"VmHWM:\s+(\d+)", status))])
            except OSError:
                pass
            time.sleep(0.05)
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertLess(most, 150_000, "kB")


if __name__ == "__main__":
    unittest.main()
