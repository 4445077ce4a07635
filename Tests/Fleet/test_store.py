"""A fleet whose files become objects of a store, while workers are killed."""

import json
import os
import subprocess
import sys
import time
import unittest

import boto3
import botocore.config
from world import NET, ORIGIN_PORT, World

STORE_PORT = 5077
FILES, SLOW = 600, 6
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{NET}.1:{STORE_PORT}"}
OPTIONS = ("-j", "16", "--lease", "8s", "--into", "s3://bucket/data")


class Store(unittest.TestCase):
    def setUp(self):
        self.world = World(2, 20)
        self.addCleanup(self.world.stop)
        self.world.start()
        store = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", f"{NET}.1", "-p", str(STORE_PORT)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(store.wait)
        self.addCleanup(store.kill)
        self.s3 = boto3.client(
            "s3", endpoint_url=KEYS["AWS_ENDPOINT_URL"], region_name="us-east-1", aws_access_key_id="key",
            aws_secret_access_key="secret",
            config=botocore.config.Config(proxies={}, retries={"max_attempts": 0}, connect_timeout=2))
        deadline = time.monotonic() + 60
        while True:
            try:
                self.s3.create_bucket(Bucket="bucket")
                break
            except botocore.exceptions.BotoCoreError:
                self.assertLess(time.monotonic(), deadline, "moto's server does not start")
                time.sleep(0.2)
        kept = dict(os.environ)
        os.environ.update(KEYS)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(kept)))

    def objects(self):
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket="bucket")
        return {item["Key"]: item["Size"] for page in pages for item in page.get("Contents", [])}

    def test_store(self):
        """Each file is one object, whole, under its own key, also of workers that were killed."""
        world = self.world
        lines = [f"http://h{index % 20}.test:{ORIGIN_PORT}/f/{index}" for index in range(FILES)]
        lines += [f"http://h{index}.test:{ORIGIN_PORT}/slow/{index}" for index in range(SLOW)]
        lines.append(f"http://h0.test:{ORIGIN_PORT}/gone/1")
        (world.root / "urls.txt").write_text("".join(line + "\n" for line in lines))
        world.ferry("fleet", "init", world.url)
        world.ferry("fleet", "add", world.url, world.root / "urls.txt", "--into", "s3://bucket/data")
        world.work(0, *OPTIONS)
        time.sleep(3)
        world.kill(0)
        world.work(1, *OPTIONS)
        time.sleep(1)
        world.work(0, *OPTIONS)
        deadline = time.monotonic() + 180
        while any(process.poll() is None for process in world.processes.values()):
            self.assertLess(time.monotonic(), deadline, world.status())
            time.sleep(0.2)
        status = world.status()[0]
        self.assertEqual((status["completed"], status["failed"]), (len(lines) - 1, 1), status)
        # What has failed has no file on a worker's disk, and names the object that it would be.
        failed, = (json.loads(line) for line in world.ferry("fleet", "results", world.url, "--failed").splitlines())
        self.assertEqual((failed["url"], failed["path"]), (lines[-1], f"s3://bucket/data/urls/0/0/{len(lines)}-1"))
        objects = self.objects()
        expected = {}
        for number, line in enumerate(lines[:-1], 1):
            name = line.rsplit("/", 1)[1]
            expected[f"data/urls/0/{number // 1000}/{number}-{name}"] = line
        self.assertEqual(set(objects), set(expected))
        for key, line in expected.items():
            content = self.s3.get_object(Bucket="bucket", Key=key)["Body"].read()
            if "/slow/" in line:
                self.assertEqual(content, (world.root / "large").read_bytes())
            else:
                self.assertEqual(content.decode(), line.removeprefix("http://").replace(f":{ORIGIN_PORT}", "") + "\n")
        # Nothing is left on the workers' disks.
        left = [path for number in (0, 1) for path in (world.root / f"state{number}" / "staging").rglob("*")]
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main()
