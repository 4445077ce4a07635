"""apt-get, as it is, with the gateway before an archive of its own: as its proxy, and named in its sources."""

import gzip
import http.server
import lzma
import os
import shutil
import subprocess
import threading
import unittest

from rig import PATIENCE, Case, Gateway, before, made_bytes


class Files:
    """An HTTP server for a folder."""

    def __init__(self, folder):
        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *words):
                super().__init__(*words, directory=str(folder))

            def log_message(self, *_):
                pass

            def send_head(self):
                """With ranges, which Python's own server has not."""
                asked = self.headers.get("Range", "")
                path = self.translate_path(self.path)
                if not asked.startswith("bytes=") or not os.path.isfile(path):
                    return super().send_head()
                first, _, last = asked[6:].partition("-")
                size = os.path.getsize(path)
                start, end = int(first), min(size, int(last) + 1) if last else size
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
                self.send_header("Content-Length", str(end - start))
                self.send_header("Last-Modified", self.date_time_string(os.path.getmtime(path)))
                self.end_headers()
                file = open(path, "rb")
                file.seek(start)
                self.left = end - start
                return file

            def copyfile(self, source, output):
                left = getattr(self, "left", None)
                while piece := source.read(65536 if left is None else min(65536, left)):
                    output.write(piece)
                    left = None if left is None else left - len(piece)

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Flipping:
    """A way to the server at `url` that changes one byte of a path's first whole response."""

    def __init__(self, url, path, at):
        self.flipped = 0

        def flip(handler, body):
            if handler.path != path or handler.command != "GET" or len(body) <= at or self.flipped:
                return body
            self.flipped += 1
            return body[:at] + bytes([body[at] ^ 1]) + body[at + 1:]

        self.slow = before(url, flip)


@unittest.skipUnless(shutil.which("apt-get") and shutil.which("dpkg-deb"), "there is no apt-get")
class AptGet(Case):
    def archive(self, size, compress=gzip.compress):
        """An archive with one package `big`; returns it and its file."""
        packed = ("Packages.xz", compress) if compress is lzma.compress else ("Packages.gz", lambda text: compress(text, mtime=0))
        root = self.folder / "archive"
        content = self.folder / "content"
        (content / "DEBIAN").mkdir(parents=True)
        (content / "DEBIAN" / "control").write_text(
            "Package: big\nVersion: 1.0\nArchitecture: all\nMaintainer: x <x@x.example>\nDescription: x\n")
        (content / "data.bin").write_bytes(made_bytes(size, 1))
        file = root / "pool" / "big_1.0_all.deb"
        file.parent.mkdir(parents=True)
        subprocess.run(["dpkg-deb", "-Znone", "-b", str(content), str(file)], check=True, stdout=subprocess.DEVNULL)
        data = file.read_bytes()
        packages = (
            "Package: big\nVersion: 1.0\nArchitecture: all\nMaintainer: x <x@x.example>\nDescription: x\n"
            f"Filename: pool/big_1.0_all.deb\nSize: {len(data)}\nSHA256: {self.digest(data)}\n\n").encode()
        lists = root / "dists" / "stable" / "main"
        lines = []
        for place in ("binary-amd64", "binary-arm64", "binary-all"):
            for name, text in (("Packages", packages), (packed[0], packed[1](packages))):
                by_hash = lists / place / "by-hash" / "SHA256"
                by_hash.mkdir(parents=True, exist_ok=True)
                (lists / place / name).write_bytes(text)
                (by_hash / self.digest(text)).write_bytes(text)
                lines.append(f" {self.digest(text)} {len(text)} main/{place}/{name}")
        (root / "dists" / "stable" / "Release").write_text(
            "Suite: stable\nCodename: stable\nArchitectures: amd64 arm64 all\nComponents: main\nAcquire-By-Hash: yes\n"
            "Date: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n" + "\n".join(lines) + "\n")
        return root, data

    # The user that apt drops to when root starts it, as on every Debian.
    USERS = ("_apt",) if os.geteuid() == 0 else ()

    def setUp(self):
        super().setUp()
        # Its user must reach what it writes.
        self.folder.chmod(0o755)

    def apt(self, source, *words, proxy=None):
        state = self.folder / "apt"
        for name in ("lists/partial", "cache/archives/partial", "etc"):
            (state / name).mkdir(parents=True, exist_ok=True)
            if self.USERS and name.endswith("partial"):
                shutil.chown(state / name, *self.USERS)
        (state / "etc" / "sources.list").write_text(f"deb [trusted=yes] {source} stable main\n")
        options = {
            "Dir::State": state, "Dir::State::lists": state / "lists", "Dir::Cache": state / "cache",
            "Dir::Etc::sourcelist": state / "etc" / "sources.list", "Dir::Etc::sourceparts": "-",
            "Dir::State::status": "/dev/null", "Acquire::Languages": "none",
            "Acquire::Retries": "0", "Acquire::http::Proxy": proxy or "DIRECT"}
        environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        (self.folder / "got").mkdir(exist_ok=True)
        if self.USERS:
            shutil.chown(self.folder / "got", *self.USERS)
        return self.process(
            ["apt-get", "-q", *(word for name, value in options.items() for word in ("-o", f"{name}={value}")), *words],
            cwd=self.folder / "got", env=environment)

    def test_killed_clients_and_daemons(self):
        root, data = self.archive(90_000_000)
        upstream = self.started(before(self.started(Files(root)).url))
        gateway = self.started(Gateway(f"apt={upstream.url}/", users=self.USERS))
        proxy = f"{gateway.url}/"
        self.succeeds(self.apt(upstream.url, "update", proxy=proxy))
        self.survives(
            upstream, gateway, len(data), lambda: self.apt(upstream.url, "download", "big", proxy=proxy))
        self.assertEqual((self.folder / "got" / "big_1.0_all.deb").read_bytes(), data)
        # Named in the sources, the same bytes are there already.
        (self.folder / "got" / "big_1.0_all.deb").unlink()
        sent = upstream.total()
        source = f"{gateway.url}/gw/apt/{upstream.url.removeprefix('http://')}"
        self.succeeds(self.apt(source, "update"))
        self.succeeds(self.apt(source, "download", "big"))
        self.assertEqual((self.folder / "got" / "big_1.0_all.deb").read_bytes(), data)
        self.assertLess(upstream.total() - sent, 1 << 20)
        # Root would be admitted without the option.
        self.assertNotIn("unsandboxed", (self.folder / "log").read_text(errors="replace"))

    @unittest.skipUnless(USERS, "only root's apt-get drops to another user")
    def test_users_who_are_not_named_get_the_reason(self):
        root, _ = self.archive(1000)
        upstream = self.started(Files(root))
        gateway = self.started(Gateway(f"apt={upstream.url}/"))
        words = ("update", "-o", "APT::Update::Error-Mode=any")
        self.assertNotEqual(self.apt(upstream.url, *words, proxy=gateway.url).wait(PATIENCE), 0)
        self.assertIn("not for user _apt", (self.folder / "log").read_text(errors="replace"))
        self.assertIn("_apt", (gateway.folder / "log").read_text(errors="replace"))

    def test_a_wrong_byte_is_not_kept(self):
        for compress in (gzip.compress, lzma.compress):
            with self.subTest(compress.__name__):
                self.wrong_byte(compress)

    def wrong_byte(self, compress):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.folder.chmod(0o755)
        root, data = self.archive(200_000, compress)
        files = Files(root)
        self.started(files)
        wrong = Flipping(files.url, "/pool/big_1.0_all.deb", 150_000)
        upstream = self.started(wrong.slow)
        gateway = self.started(Gateway(f"apt={upstream.url}/", users=self.USERS))
        proxy = f"{gateway.url}/"
        self.succeeds(self.apt(upstream.url, "update", proxy=proxy))
        # The end does not come, and what apt has then is wrong. It goes on with that: the gateway begins anew.
        self.succeeds(self.apt(upstream.url, "download", "big", proxy=proxy))
        self.assertEqual(wrong.flipped, 1)
        self.assertIn("code=checksum", (gateway.folder / "log").read_text(errors="replace"))
        self.assertEqual((self.folder / "got" / "big_1.0_all.deb").read_bytes(), data)
        (self.folder / "got" / "big_1.0_all.deb").unlink()
        sent = upstream.total()
        self.succeeds(self.apt(upstream.url, "download", "big", proxy=proxy))
        self.assertEqual(upstream.total(), sent)
        self.assertEqual(wrong.flipped, 1)

    def test_other_archives_are_refused(self):
        root, _ = self.archive(1000)
        given, other = self.started(Files(root)), self.started(Files(root))
        gateway = self.started(Gateway(f"apt={given.url}/", users=self.USERS))
        self.assertNotEqual(self.apt(other.url, "update", "-o", "APT::Update::Error-Mode=any", proxy=gateway.url).wait(PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
