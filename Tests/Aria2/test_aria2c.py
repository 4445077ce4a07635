"""Ferry under the name aria2c: beside aria2c itself with the same arguments, and started by yt-dlp."""

import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import aria2p

sys.path.append(str(Path(__file__).resolve().parents[1] / "Page"))
from servers import PATIENCE, Origin, end, own_environment, program  # noqa: E402

ARIA2C = shutil.which("aria2c")


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.origin = Origin()
        cls.folder = Path(tempfile.mkdtemp(prefix="ferry-aria2c-"))
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin" / "aria2c").symlink_to(program("ferry"))
        cls.ferry = str(cls.folder / "bin" / "aria2c")
        cls.environment = own_environment(cls.folder)

    @classmethod
    def tearDownClass(cls):
        end(cls.origin.process)
        shutil.rmtree(cls.folder, ignore_errors=True)

    def place(self, name):
        return Path(tempfile.mkdtemp(prefix=name + "-", dir=self.folder))

    def run_in(self, place, words, given=None):
        return subprocess.run(
            words, cwd=place, env=self.environment, input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, timeout=PATIENCE * 4)


@unittest.skipUnless(ARIA2C, "aria2c is not installed")
class BesideAria2(Case):
    """The same arguments for both: the same files, the same exit status, the same rows of results."""

    def both(self, words, prepare=lambda place: None, given=None):
        results = []
        for name, program_path in (("aria2", ARIA2C), ("ferry", self.ferry)):
            place = self.place(name)
            prepare(place)
            done = self.run_in(place, [program_path, "--no-conf", *words], given)
            files = {
                str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted(place.rglob("*")) if path.is_file()
            }
            rows = sorted(
                (state, self.named(path, place)) for state, path in
                re.findall(r"^[0-9a-f]{6}\|(\w+) *\|[^|]*\|(?:[^|]{3}\|)?(.*)$", done.stdout, re.M))
            shutil.rmtree(place)
            results.append((done.returncode, files, rows, done))
        aria2, ferry = results
        said = f"{words}: aria2 {aria2[:3]}, ferry {ferry[:3]}\n{ferry[3].stdout}{ferry[3].stderr}"
        return aria2, ferry, said

    @staticmethod
    def named(path, place):
        """Ferry shows no query of a URL, and of every path the absolute one."""
        return re.sub(r"\?.*", "?…", path) if "://" in path else os.path.relpath(place / path, place)

    def same(self, words, prepare=lambda place: None, given=None, files=True):
        aria2, ferry, said = self.both(words, prepare, given)
        self.assertEqual(aria2[0], ferry[0], said)
        if files:
            self.assertEqual(aria2[1], ferry[1], said)
        self.assertEqual(aria2[2], ferry[2], said)
        return ferry[3]

    def test_files_and_results(self):
        url = self.origin.file("3M", "f.bin")
        other = self.origin.file("1M", "g.bin", "seed=2")
        for words in (
            [url], ["-x4", "-s4", "-k1M", url], ["-d", "d", "-o", "e/h.bin", url], ["-Z", url, other], [url, url],
            ["--allow-overwrite=true", "--auto-file-renaming=false", "-R", url], ["--download-result=full", url],
            ["-q", url], ["--download-result=hide", "--summary-interval=0", url], ["-P", "-Z", url[:-5] + "{a,b}.bin"],
            ["--header", "X-A: 1", "--referer=*", "-U", "x", url], ["--max-download-limit=20M", url],
            ["--console-log-level=error", "--show-console-readout=false", "-c", url],
        ):
            with self.subTest(words=words):
                self.same(words)

    def test_lists(self):
        url, other = self.origin.file("1M", "f.bin"), self.origin.file("2M", "g.bin", "seed=2")
        text = f"{url}\t{url}\n  out=a.bin\n  dir=d\n# no\n{other}\n\theader=X-A: 1\n  out=b.bin\n"
        self.same(["-i", "-", "-j2"], given=text)
        self.same(["-i", "l", "-d", "e"], prepare=lambda place: (place / "l").write_text(text))

    def test_statuses(self):
        url = self.origin.file("1M", "f.bin")
        there = lambda place: (place / "f.bin").write_bytes(b"other")
        digest = subprocess.run(
            [program("ferry-origin"), "print", "--size", "1M"], stdout=subprocess.PIPE, check=True).stdout
        right = hashlib.sha1(digest).hexdigest()
        for words, prepare in (
            ([self.origin.base + "/no/such"], None), ([url + "?status=401"], None), ([url + "?status=403"], None),
            ([url + "?status=410"], None), ([url + "?status=500"], None), ([url + "?status=503", "-m1"], None),
            (["--checksum=sha-1=" + right, url], None), (["--auto-file-renaming=false", url], there),
            (["http://127.0.0.1:1/f", "-m1"], None), (["http://no.such.host.invalid/f", "-m1"], None),
            (["--no-such-option"], None), ([], None), (["-x17", url], None), (["--summary-interval=x", url], None),
            (["-j0", url], None), (["-Z", self.origin.base + "/no/such", url], None),
        ):
            with self.subTest(words=words):
                self.same(words, prepare or (lambda place: None))
        # aria2 leaves the wrong bytes under the name; Ferry keeps them in a part file.
        done = self.same(["--checksum=sha-1=" + "0" * 40, url], files=False)
        self.assertEqual(done.returncode, 32)

    def test_goes_on_with_what_aria2_left(self):
        url = self.origin.file("8M", "f.bin", "rate=2M")
        place = self.place("left")
        aria2 = subprocess.Popen(
            [ARIA2C, "--no-conf", "-q", "-x2", "-s2", "-k1M", "--auto-save-interval=1", url], cwd=place,
            env=self.environment)
        until = time.monotonic() + PATIENCE
        control = place / "f.bin.aria2"
        while time.monotonic() < until and not (control.exists() and any(control.read_bytes()[34:36])):
            time.sleep(0.05)
        aria2.send_signal(signal.SIGINT)
        aria2.wait(PATIENCE)
        self.assertTrue(control.exists())
        done = self.run_in(place, [self.ferry, "--no-conf", self.origin.file("8M", "f.bin", "rate=2M")])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([path.name for path in place.iterdir()], ["f.bin"])
        check = subprocess.run([program("ferry-origin"), "compare", "--size", "8M", str(place / "f.bin")])
        self.assertEqual(check.returncode, 0)


class WithYtDlp(Case):
    """yt-dlp as it comes from PyPI."""

    def yt_dlp(self, url, *words):
        return [sys.executable, "-m", "yt_dlp", "--ignore-config", "--no-cache-dir", "--downloader", self.ferry,
                "-o", "v.mp4", *words, url]

    def test_downloads(self):
        place = self.place("yt")
        url = self.origin.file("5M", "v.mp4", "type=video/mp4")
        done = self.run_in(place, self.yt_dlp(url, "--verbose", "--no-mtime", "--limit-rate", "50M"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("aria2c", done.stdout + done.stderr)
        self.assertEqual([path.name for path in place.iterdir()], ["v.mp4"])
        check = subprocess.run([program("ferry-origin"), "compare", "--size", "5M", str(place / "v.mp4")])
        self.assertEqual(check.returncode, 0)

    def test_goes_on_after_a_kill(self):
        place = self.place("yt")
        # With yt-dlp's sixteen connections, six seconds: its second checkpoint is long before its end.
        url = self.origin.file("20M", "v.mp4", "type=video/mp4&rate=200K")
        started = subprocess.Popen(
            self.yt_dlp(url), cwd=place, env=self.environment, stdout=subprocess.DEVNULL, start_new_session=True)
        journal = place / "v.mp4.part.part.ferry"
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and not journal.exists():
            time.sleep(0.05)
        self.assertTrue(journal.exists(), list(place.iterdir()))
        first = journal.read_bytes()
        while time.monotonic() < until and journal.read_bytes() == first:
            time.sleep(0.05)
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        done = self.run_in(place, self.yt_dlp(url, "--downloader-args", "aria2c:--console-log-level=info"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([path.name for path in place.iterdir()], ["v.mp4"])
        check = subprocess.run([program("ferry-origin"), "compare", "--size", "20M", str(place / "v.mp4")])
        self.assertEqual(check.returncode, 0)

    def test_reports_a_failure(self):
        place = self.place("yt")
        url = self.origin.file("5M", "v.mp4", "type=video/mp4")
        done = self.run_in(
            place, self.yt_dlp(url, "--downloader-args", "aria2c:--checksum=md5=" + "0" * 32))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("aria2c exited with code 32", done.stdout + done.stderr)


class WithRPC(Case):
    """`aria2c --enable-rpc`, steered by aria2p."""

    def start(self, place, port, *words):
        started = subprocess.Popen(
            [self.ferry, "--no-conf", "--enable-rpc", f"--rpc-listen-port={port}", "-d", "files", *words], cwd=place,
            env=self.environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (end(started), started.stdout.close()))
        line = started.stdout.readline()
        self.assertIn(f"http://127.0.0.1:{port}/jsonrpc", line)
        return started, line.partition("token:")[2].strip()

    def reach(self, download, status):
        until = time.monotonic() + PATIENCE
        while download.status != status and time.monotonic() < until:
            download.update()
        self.assertEqual(download.status, status)

    def test_a_list_survives_and_has_the_downloads_of_the_command_line(self):
        place = self.place("rpc")
        port = free_port()
        (place / "list").write_text(f"{self.origin.file('2M', 'a.bin')}\n  gid=00000000000000aa\n  out=named.bin\n")
        started, token = self.start(place, port, "-i", "list", "-U", "agent-7")
        api = aria2p.API(aria2p.Client(host="http://127.0.0.1", port=port, secret=token))
        first = api.get_download("00000000000000aa")
        self.reach(first, "complete")
        self.assertEqual(first.files[0].path, place / "files" / "named.bin")
        slow = api.add_uris([self.origin.file("50M", "slow.bin", "rate=100k")], options={"dir": str(place / "files")})
        self.reach(slow, "active")
        self.assertEqual(slow.options.user_agent, "agent-7")
        self.assertTrue(api.client.shutdown())
        self.assertEqual(started.wait(PATIENCE), 0)
        started, none = self.start(place, port, "-i", "list", "--stop-with-process", str(os.getpid()))
        self.assertEqual(none, "", "the token that was made is kept, and shown once")
        self.reach(api.get_download(slow.gid), "active")
        self.assertEqual(len(api.get_downloads()), 2)
        started.send_signal(signal.SIGINT)
        self.assertEqual(started.wait(PATIENCE), 0)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


if __name__ == "__main__":
    unittest.main()
