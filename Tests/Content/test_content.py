"""Programs that read a file through the daemon while it is fetched: of each, the share of the file that was there then."""

import hashlib
import io
import os
import random
import shutil
import subprocess
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

import fsspec
import pyarrow
import pyarrow.parquet
import remotezip
from servers import PATIENCE, Daemon
from slow_origin import SlowOrigin

RATE = 400_000


class Content(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.origin = SlowOrigin(RATE)
        cls.daemon = Daemon()
        code = cls.daemon.code()
        cls.token = cls.daemon.call("POST", "/login", {"code": code})["token"]
        cls.headers = {"Authorization": f"Bearer {cls.token}"}

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()
        cls.origin.stop()

    def begin(self, name, data, share):
        """Begins a download over at most two connections, and waits until this share of it is there."""
        url = self.origin.serve(name, data)
        self.id = self.daemon.call("POST", "/downloads", {"urls": [url], "maxConnections": 2})["id"]
        self.size = len(data)
        until = time.monotonic() + PATIENCE
        while self.share() < share:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.02)
        return f"{self.daemon.page}api/v1/downloads/{self.id}/content"

    def share(self):
        return self.daemon.call("GET", f"/downloads/{self.id}")["progress"]["completedBytes"] / self.size

    def expect_early(self, program, most):
        share = self.share()
        asked = [first for path, first in self.origin.asked if path == "/" + self.name]
        print(f"\n{program}: done with {share:.1%} of {self.size:,} bytes; first bytes asked for: {asked}", flush=True)
        self.assertLess(share, most)
        self.daemon.call("DELETE", f"/downloads/{self.id}?deleteFile=true")

    def test_remotezip_lists_an_archive_and_reads_a_member(self):
        self.name = "a.zip"
        whole = io.BytesIO()
        random.seed(1)
        with zipfile.ZipFile(whole, "w") as archive:
            for number in range(60):
                archive.writestr(f"member-{number}", random.randbytes(1_000_000))
        data = whole.getvalue()
        url = self.begin(self.name, data, 0.01)
        with remotezip.RemoteZip(url, headers=self.headers) as archive:
            self.assertEqual(len(archive.namelist()), 60)
            self.expect_share("remotezip lists 60 members", 0.5)
            member = archive.read("member-40")
        with zipfile.ZipFile(whole) as archive:
            self.assertEqual(member, archive.read("member-40"))
        self.expect_early("remotezip reads member 40", 0.15)

    def expect_share(self, program, most):
        """Read in order, what was wanted would have needed nearly the whole file; the share grows with the machine's load."""
        share = self.share()
        print(f"\n{program}: with {share:.1%} of {self.size:,} bytes", flush=True)
        self.assertLess(share, most)

    def test_pyarrow_reads_the_footer_and_a_row_group(self):
        self.name = "a.parquet"
        random.seed(2)
        table = pyarrow.table({"a": [random.getrandbits(63) for _ in range(4_000_000)]})
        whole = io.BytesIO()
        pyarrow.parquet.write_table(table, whole, row_group_size=100_000, compression="none", use_dictionary=False)
        url = self.begin(self.name, whole.getvalue(), 0.01)
        with fsspec.open(url, headers=self.headers, block_size=1 << 16, cache_type="none") as stream:
            file = pyarrow.parquet.ParquetFile(stream)
            self.assertEqual(file.metadata.num_rows, 4_000_000)
            self.expect_share("pyarrow reads the footer", 0.5)
            group = file.read_row_group(30)
        self.assertEqual(group.column("a").to_pylist(), table.slice(3_000_000, 100_000).column("a").to_pylist())
        self.expect_early("pyarrow reads row group 30", 0.2)

    @unittest.skipUnless(shutil.which("ffmpeg") and shutil.which("ffprobe"), "ffmpeg is not installed")
    def test_ffprobe_and_ffmpeg_seek_in_a_video(self):
        self.name = "a.mp4"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, self.name)
            subprocess.run(
                ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25", "-t", "120", "-c:v",
                 "mpeg4", "-b:v", "3M", "-minrate", "3M", "-maxrate", "3M", "-bufsize", "3M", "-g", "25", path],
                check=True)
            data = path.read_bytes()
        # Its index is at the end.
        self.assertGreater(data.rfind(b"moov"), len(data) * 0.9)
        url = self.begin(self.name, data, 0.02)
        fields = ["-headers", f"Authorization: Bearer {self.token}\r\n"]
        told = subprocess.run(
            ["ffprobe", "-v", "error", *fields, "-show_entries", "format=duration", "-of", "csv=p=0", url],
            check=True, capture_output=True, text=True, timeout=PATIENCE).stdout
        self.assertAlmostEqual(float(told), 120, delta=1)
        self.expect_share("ffprobe tells the duration", 0.5)
        subprocess.run(
            ["ffmpeg", "-v", "error", *fields, "-ss", "90", "-i", url, "-frames:v", "1", "-f", "null", "-"],
            check=True, timeout=PATIENCE)
        self.expect_early("ffmpeg shows the picture at 75 %", 0.3)

    def test_curl_reads_the_whole_through_the_socket_and_it_is_verified(self):
        self.name = "a.bin"
        data = random.Random(3).randbytes(3_000_000)
        url = self.origin.serve(self.name, data)
        checksum = "sha-256:" + hashlib.sha256(data).hexdigest()
        one = self.daemon.call("POST", "/downloads", {"urls": [url], "checksum": checksum})["id"]
        read = subprocess.run(
            ["curl", "--silent", "--fail", "--unix-socket", self.daemon.socket,
             f"http://ferry/api/v1/downloads/{one}/content"],
            check=True, capture_output=True, timeout=PATIENCE).stdout
        self.assertEqual(read, data)
        self.assertEqual(self.daemon.call("GET", f"/downloads/{one}")["state"], "completed")


if __name__ == "__main__":
    unittest.main()
