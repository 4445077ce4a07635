"""s3:// as source: keys, errors, regions, conditions, credentials of every kind, sync of a prefix; each against moto."""

import datetime
import hashlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from servers import PATIENCE, Listener, end, own_environment, program
from store import BUCKET, Gate, Store

STRANGE = ["plain.bin", "a dir/sp ace.bin", "ünï/cødé.bin", "plus+and&=.bin", "per%20cent%.bin", "a//b.bin", "tilde~'(x)!*.bin"]


def setUpModule():
    global store, gate
    store = Store()
    gate = Gate(store)


def tearDownModule():
    gate.stop()
    store.stop()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="ferry-s3."))
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", str(self.folder)], check=True))
        self.environment = {
            name: value for name, value in own_environment(self.folder).items() if not name.startswith("AWS_")
        } | {
            "AWS_ACCESS_KEY_ID": store.keys[0], "AWS_SECRET_ACCESS_KEY": store.keys[1], "AWS_ENDPOINT_URL": gate.url,
            "AWS_EC2_METADATA_DISABLED": "true"}
        self.place = self.folder / "place"
        self.place.mkdir()
        gate.forget()

    def start(self, *words, **settings):
        return subprocess.Popen(
            [program("ferry"), *map(str, words)], env=self.environment | settings, cwd=self.place,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ferry(self, *words, code=0, **settings):
        process = self.start(*words, **settings)
        try:
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            end(process, signal.SIGKILL)
        self.assertEqual(process.returncode, code, f"{words}\n{out}\n{err}")
        return out, err

    def put(self, key, data, **more):
        store.s3.put_object(Bucket=BUCKET, Key=key, Body=data, **more)
        return f"s3://{BUCKET}/" + key.replace("%", "%25").replace("?", "%3F").replace("#", "%23")

    def wait(self, condition):
        until = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), until, "it does not come")
            time.sleep(0.02)


class Source(Case):
    def test_keys(self):
        for number, key in enumerate(STRANGE):
            data = os.urandom(1000 + number)
            url = self.put(key, data)
            with self.subTest(key=key):
                self.ferry("get", url, "-o", f"{number}.out")
                self.assertEqual((self.place / f"{number}.out").read_bytes(), data)
        self.assertTrue(all("authorization" in asked.headers for asked in gate.asked))

    def test_large_file_is_fetched_by_several_connections_under_its_tag(self):
        data = os.urandom(40 << 20)
        url = self.put("large.bin", data)
        gate.rule = lambda asked: 12 << 20 if asked.method == "GET" else None
        self.ferry("get", url, "--min-free", "0")
        self.assertEqual((self.place / "large.bin").read_bytes(), data)
        ranges = [asked for asked in gate.asked if "range" in asked.headers]
        self.assertTrue(all("if-match" in asked.headers and "if-range" not in asked.headers for asked in ranges), ranges)

    def test_killed_run_goes_on(self):
        data = os.urandom(8 << 20)
        url = self.put("killed.bin", data)
        gate.rule = lambda asked: 4 << 20
        process = self.start("get", url, "-x", "1", "-q")
        journal = self.place / "killed.bin.part.ferry"
        self.wait(lambda: journal.exists() and b'"claimed":[[' in journal.read_bytes())
        end(process, signal.SIGKILL)
        process.communicate()
        gate.forget()
        self.ferry("get", url, "-x", "1")
        self.assertEqual((self.place / "killed.bin").read_bytes(), data)
        self.assertIn("range", gate.asked[0].headers)
        self.assertNotIn(store.keys[1].encode(), journal.read_bytes() if journal.exists() else b"")

    def test_object_that_changes_is_fetched_anew(self):
        url = self.put("changing.bin", os.urandom(8 << 20))
        gate.rule = lambda asked: 4 << 20
        process = self.start("get", url, "-x", "1", "-q")
        journal = self.place / "changing.bin.part.ferry"
        self.wait(lambda: journal.exists() and b'"claimed":[[' in journal.read_bytes())
        end(process, signal.SIGKILL)
        process.communicate()
        data = os.urandom(6 << 20)
        self.put("changing.bin", data)
        gate.forget()
        self.ferry("get", url, "-x", "1")
        self.assertEqual((self.place / "changing.bin").read_bytes(), data)
        self.assertIn("if-match", gate.asked[0].headers)
        self.assertNotIn("range", gate.asked[1].headers)

    def test_checksum_of_the_store_is_the_proof(self):
        url = self.put("sum.bin", b"x" * 2_000_000, ChecksumAlgorithm="SHA256")
        out, _ = self.ferry("get", url, "--json")
        self.assertIn('"proof":"digest"', out)

    def test_page_that_is_an_object_is_the_file(self):
        url = self.put("page.bin", b"<!DOCTYPE html><title>x</title>", ContentType="text/html")
        self.ferry("get", url)
        self.assertTrue((self.place / "page.bin").read_bytes().startswith(b"<!DOCTYPE"))

    def test_version(self):
        store.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
        self.addCleanup(store.s3.put_bucket_versioning, Bucket=BUCKET, VersioningConfiguration={"Status": "Suspended"})
        first = store.s3.put_object(Bucket=BUCKET, Key="v.bin", Body=b"first")["VersionId"]
        self.put("v.bin", b"second")
        self.ferry("get", f"s3://{BUCKET}/v.bin?versionId={first}", "-o", "v.out")
        self.assertEqual((self.place / "v.out").read_bytes(), b"first")


class Errors(Case):
    def refused(self, url, *texts, code=None, **settings):
        process = self.start("get", url, **settings)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertNotEqual(process.returncode, 0, out)
        if code is not None:
            self.assertEqual(process.returncode, code, err)
        for text in texts:
            self.assertIn(text, err)
        for secret in (settings.get("AWS_SECRET_ACCESS_KEY", store.keys[1]), settings.get("AWS_SESSION_TOKEN", "\0")):
            if secret:
                self.assertNotIn(secret, out + err)

    def test_store_refuses(self):
        url = self.put("there.bin", b"data")
        self.refused(f"s3://{BUCKET}/missing.bin", "there is no such object")
        self.refused("s3://no-such-bucket/x", "there is no bucket no-such-bucket")
        self.refused(url, "secret key", AWS_SECRET_ACCESS_KEY="wrong" * 8)
        self.refused(url, "does not know this access key", AWS_ACCESS_KEY_ID="AKIAAAAAAAAAAAAAAAAA")
        self.refused(url, "do not permit", AWS_ACCESS_KEY_ID=store.poor[0], AWS_SECRET_ACCESS_KEY=store.poor[1])
        self.refused(f"s3://{BUCKET}/", "ferry sync")

    def test_keys_that_have_ended_and_a_wrong_clock(self):
        def error(code, status):
            return status, {"Content-Type": "application/xml"}, f"<Error><Code>{code}</Code></Error>".encode()

        url = self.put("there.bin", b"data")
        gate.rule = lambda asked: error("ExpiredToken", 400)
        self.refused(url, "temporary keys are expired", AWS_SESSION_TOKEN="t0k3n/" * 8)
        self.assertEqual(gate.asked[0].headers["x-amz-security-token"], "t0k3n/" * 8)
        self.assertIn("x-amz-security-token", gate.asked[0].headers["authorization"])
        gate.rule = lambda asked: error("RequestTimeTooSkewed", 403)
        self.refused(url, "the clock of this machine is wrong")

    def test_no_keys(self):
        url = self.put("there.bin", b"data")
        gate.rule = lambda asked: (403, {}, b"<Error><Code>AccessDenied</Code></Error>")
        self.refused(url, "asks for keys", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
        self.assertNotIn("authorization", gate.asked[0].headers)

    def test_settings_that_cannot_be_used(self):
        self.refused("s3://bucket/x", "AWS_ENDPOINT_URL", AWS_ENDPOINT_URL="store")
        self.refused("s3://bucket/x", "there is no profile", AWS_PROFILE="none")

    def test_store_that_is_busy_is_asked_again(self):
        url = self.put("busy.bin", b"data" * 100)
        gate.rule = lambda asked: (503, {}, b"<Error><Code>SlowDown</Code></Error>") if len(gate.asked) < 3 else None
        self.ferry("get", url)
        self.assertGreaterEqual(len(gate.asked), 3)

    def test_region_that_the_store_names_counts_for_all_that_follows(self):
        data = os.urandom(3 << 20)
        url = self.put("region.bin", data)

        def rule(asked):
            if "/us-east-1/" in asked.headers.get("authorization", ""):
                return 400, {}, (b"<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>")
            return None

        gate.rule = rule
        self.ferry("get", url)
        self.assertEqual((self.place / "region.bin").read_bytes(), data)
        self.assertEqual(sum("/us-east-1/" in asked.headers["authorization"] for asked in gate.asked), 1)

    def test_redirect_gets_no_signature(self):
        other = Listener(lambda path, headers: (200, {}, b"stolen"))
        self.addCleanup(other.close)
        url = self.put("moved.bin", b"data")
        gate.rule = lambda asked: (307, {"Location": other.url + "/x", "x-amz-bucket-region": "evil.example/"}, b"")
        self.refused(url)
        self.assertEqual(other.asked, [])

    def test_verbose_output_has_no_secret(self):
        url = self.put("said.bin", b"data")
        out, err = self.ferry("get", "-v", url, AWS_SESSION_TOKEN="")
        text = out + err
        self.assertIn("x-amz-content-sha256", text)
        self.assertNotIn(store.keys[1], text)
        self.assertNotIn("Signature=", text)


class Keys(Case):
    def bare(self):
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"):
            del self.environment[name]

    def test_profile(self):
        self.bare()
        url = self.put("profile.bin", b"data")
        directory = Path(self.environment["HOME"]) / ".aws"
        directory.mkdir()
        (directory / "credentials").write_text(
            f"[work]\naws_access_key_id = {store.keys[0]}\naws_secret_access_key = {store.keys[1]}\n")
        (directory / "config").write_text(f"[profile work]\nregion = eu-west-1\nendpoint_url = {gate.url}\n")
        self.ferry("get", url, AWS_PROFILE="work")
        self.assertIn("/eu-west-1/s3/", gate.asked[0].headers["authorization"])

    def answers(self, keys, seconds):
        ends = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
        return json.dumps({
            "Code": "Success", "AccessKeyId": keys[0], "SecretAccessKey": keys[1], "Token": "t0k3n",
            "Expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}).encode()

    def served(self, answer):
        listener = Listener(answer)
        self.addCleanup(listener.close)
        return listener

    def test_container(self):
        self.bare()
        url = self.put("container.bin", b"data")
        listener = self.served(lambda path, headers: (200, {}, self.answers(store.keys, 3600)))
        gate.rule = lambda asked: (200, {"ETag": '"1"'}, b"data")
        self.ferry("get", url, AWS_ENDPOINT_URL=gate.url, AWS_CONTAINER_CREDENTIALS_FULL_URI=listener.url + "/keys",
                   AWS_CONTAINER_AUTHORIZATION_TOKEN="word")
        self.assertEqual(listener.asked[0]["authorization"], "word")
        self.assertEqual(gate.asked[0].headers["x-amz-security-token"], "t0k3n")

    def test_instance(self):
        self.bare()
        url = self.put("instance.bin", b"data")
        metadata = Metadata(lambda: self.answers(store.keys, 3600))
        self.addCleanup(metadata.stop)
        gate.rule = lambda asked: (200, {"ETag": '"1"'}, b"data")
        self.ferry("get", url, AWS_ENDPOINT_URL=gate.url, AWS_EC2_METADATA_DISABLED="",
                   AWS_EC2_METADATA_SERVICE_ENDPOINT=metadata.url)
        self.assertEqual(metadata.asked, [
            "PUT /latest/api/token", "GET /latest/meta-data/iam/security-credentials/",
            "GET /latest/meta-data/iam/security-credentials/role-1"])
        self.assertIn(store.keys[0], gate.asked[0].headers["authorization"])

    def test_keys_of_an_instance_are_replaced_before_they_end(self):
        self.bare()
        urls = [self.put(f"many/{number}.bin", b"data") for number in range(3)]
        metadata = Metadata(lambda: self.answers(store.keys, 200))
        self.addCleanup(metadata.stop)
        gate.rule = lambda asked: (200, {"ETag": '"1"'}, b"data")
        self.ferry("get", "-j", "1", *urls, AWS_ENDPOINT_URL=gate.url, AWS_EC2_METADATA_DISABLED="",
                   AWS_EC2_METADATA_SERVICE_ENDPOINT=metadata.url)
        # They end within the margin: each request looks for others.
        self.assertEqual(len(metadata.asked), 9)

    def daemon(self):
        """A daemon with the keys of this environment, which commands then use."""
        from servers import Daemon
        kept = {name: value for name, value in self.environment.items() if name.startswith("AWS_")}
        os.environ.update(kept)
        try:
            daemon = Daemon()
        finally:
            for name in kept:
                del os.environ[name]
        self.addCleanup(daemon.stop)
        self.environment |= daemon.environment
        return daemon

    def test_daemon_syncs_a_prefix(self):
        for number in range(3):
            self.put(f"kept/{number}.bin", b"data %d" % number)
        daemon = self.daemon()
        self.ferry("sync", f"s3://{BUCKET}/kept", str(daemon.downloads / "set"), "--daemon")
        self.wait(lambda: all((daemon.downloads / f"set/{number}.bin").exists() for number in range(3)))
        self.assertEqual([(daemon.downloads / f"set/{number}.bin").read_bytes() for number in range(3)],
                         [b"data %d" % number for number in range(3)])

    def test_daemon_uses_its_own_way_only(self):
        url = self.put("daemon.bin", b"data")
        daemon = self.daemon()
        self.ferry("add", url)
        self.wait(lambda: (daemon.downloads / "daemon.bin").exists())
        proxy = self.served(lambda path, headers: (200, {}, b"stolen"))
        self.put("other.bin", b"data")
        self.ferry("add", f"s3://{BUCKET}/other.bin", "--proxy", proxy.url)
        self.wait(lambda: "its own proxy and certificates" in self.ferry("list", "--json")[0])
        self.assertEqual(proxy.asked, [])


class Metadata:
    """The metadata of an instance, version 2."""

    def __init__(self, keys):
        import http.server
        self.asked = asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do(self):
                asked.append(f"{self.command} {self.path}")
                body, status = b"", 401
                if self.command == "PUT":
                    body, status = b"a-token", 200
                elif self.headers.get("X-aws-ec2-metadata-token") == "a-token":
                    body, status = (b"role-1\n" if self.path.endswith("/") else keys()), 200
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_PUT = do

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Sets(Case):
    def test_prefix_is_synced_page_by_page(self):
        wanted = {f"d{number % 3}/f {number}+.txt": os.urandom(50 + number) for number in range(25)}
        for path, data in wanted.items():
            self.put("tree/" + path, data)
        self.put("tree/d0/", b"")
        self.put("treeother/x", b"no")
        self.ferry("sync", f"s3://{BUCKET}/tree", "set")
        found = {str(path.relative_to(self.place / "set")): path.read_bytes()
                 for path in (self.place / "set").rglob("*.txt")}
        self.assertEqual(found, wanted)
        self.assertEqual(len([asked for asked in gate.asked if "list-type=2" in asked.target]), 3)
        gate.forget()
        self.ferry("sync", f"s3://{BUCKET}/tree/", "set")
        self.assertFalse([asked for asked in gate.asked if "list-type" not in asked.target and "if-none-match" not in asked.headers])

    def test_listing_that_is_busy_is_asked_again(self):
        self.put("busy-set/a", b"data")
        busy = (503, {}, b"<Error><Code>SlowDown</Code></Error>")
        gate.rule = lambda asked: busy if len(gate.asked) < 3 else None
        self.ferry("sync", f"s3://{BUCKET}/busy-set", "set")
        self.assertEqual((self.place / "set/a").read_bytes(), b"data")
        gate.forget()
        gate.rule = lambda asked: busy
        _, err = self.ferry("sync", "--retries", "1", f"s3://{BUCKET}/busy-set", "set", code=3)
        self.assertEqual(len(gate.asked), 2, err)
        self.assertIn("503", err)

    def test_prefix_is_listed(self):
        self.put("below/b c", b"12345")
        self.put("below/a/x", b"1")
        self.put("below/a/", b"")
        self.put("belowother", b"1")
        wanted = [("1", f"s3://{BUCKET}/below/a/x"), ("5", f"s3://{BUCKET}/below/b%20c")]
        out, _ = self.ferry("plan", f"s3://{BUCKET}/below/")
        found = [line.split("\t") for line in out.splitlines()]
        self.assertEqual([(size, url) for size, _, url in found], wanted)
        for _, date, _ in found:
            self.assertRegex(date, r"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")
        lines = [json.loads(line) for line in self.ferry("plan", "--json", f"s3://{BUCKET}")[0].splitlines()]
        self.assertEqual({line["kind"] for line in lines}, {"object"})
        self.assertLessEqual(set(wanted), {(str(line["totalBytes"]), line["url"]) for line in lines})
        self.assertTrue(all(line["etag"] for line in lines))
        self.assertIn("there is no such object", self.ferry("plan", f"s3://{BUCKET}/none/", code=4)[1])
        self.assertIn("there is no bucket", self.ferry("plan", "s3://none-of-this/", code=4)[1])
        self.assertEqual(list(self.place.iterdir()), [])

    def test_list_with_objects(self):
        for number in range(3):
            self.put(f"listed/{number}.bin", b"%d" % number)
        text = "".join(f"s3://{BUCKET}/listed/{number}.bin\n  out=o{number}\n" for number in range(3))
        (self.place / "list").write_text(text)
        self.ferry("get", "-i", "list")
        self.assertEqual([(self.place / f"o{number}").read_bytes() for number in range(3)], [b"0", b"1", b"2"])

    def test_list_of_a_server_names_no_object(self):
        self.put("secret.bin", b"secret")
        listener = Listener(lambda path, headers: (
            (200, {}, f"s3://{BUCKET}/secret.bin\n".encode() + f"http://{headers['Host']}/ok.bin\n".encode())
            if path == "/list.txt" else (200, {"ETag": '"1"'}, b"ok")))
        self.addCleanup(listener.close)
        _, err = self.start("sync", listener.url + "/list.txt", "set").communicate(timeout=PATIENCE)
        self.assertIn("no server may choose", err)
        self.assertEqual(gate.asked, [])
        self.assertTrue((self.place / "set" / "ok.bin").exists())

    def test_hostile_listing(self):
        def page(body):
            return 200, {}, f"<ListBucketResult><IsTruncated>false</IsTruncated>{body}</ListBucketResult>".encode()

        def entry(key):
            return f"<Contents><Key>{key}</Key><Size>1</Size></Contents>"

        gate.rule = lambda asked: page(entry("p/../../evil") + entry("p//x") + entry("q/other") + entry("p/ok")) \
            if "list-type" in asked.target else (200, {"ETag": '"1"'}, b"1")
        self.start("sync", f"s3://{BUCKET}/p", "set").communicate(timeout=PATIENCE)
        self.assertEqual([path.name for path in (self.place / "set").iterdir() if not path.name.startswith("ferry-")], ["ok"])
        self.assertFalse((self.folder / "evil").exists())


if __name__ == "__main__":
    unittest.main()
