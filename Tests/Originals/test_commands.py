"""A hundred command lines of curl and wget beside the same words after `ferry`: the files, what is written to standard output as the
file, and the exit status. Where they differ, the case says how."""

import hashlib
import http.server
import shlex
import socket
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from servers import PATIENCE, own_environment, program

BODY = bytes(range(256)) * 400
SMALL = b'{"version": 2}\n'
OLD = b"old\n"

# What stands for the place of a case: U the server, R a port that refuses, before the command line as a shell reads it.
CURL = """
curl -o f U/f.bin
curl -sS -o f U/f.bin
curl -sSf -o f U/f.bin
curl -fsSL -o f U/redirect
curl -L -o f U/redirect
curl --location --output f U/redirect
curl --silent --show-error --fail --output f U/small.json
curl -O U/f.bin
curl -sO U/small.json
curl --remote-name U/f.bin
curl -fsSLO U/f.bin
curl -OJ U/named
curl --remote-header-name --remote-name U/named
curl -sS --create-dirs -o a/b/f U/f.bin
curl -s --output-dir d --create-dirs -O U/f.bin
curl -s -o old U/small.json
curl -s --no-clobber -o new U/small.json
curl -s -H X-A:1 -o f U/f.bin
curl -s --header 'X-A: 1' -A agent -e http://page/ -o f U/f.bin
curl -s --user-agent agent --referer http://page/ -o f U/f.bin
curl -s -b a=b -o f U/cookie
curl -s --cookie a=b -o f U/cookie
curl -s -f -u me:pw -o f U/login
curl -s --fail --user me:pw --basic -o f U/login
curl -s -f -u me:pw --anyauth -o f U/login
curl -s -f -o f U/login
curl -s -f -u me:wrong -o f U/login
curl -s -f -o f U/404
curl -sf --retry 1 -o f U/503
curl -s -o f R/f
curl -s --retry 1 -o f R/f
curl -s --connect-timeout 5 -o f U/f.bin
curl -s --retry 3 --retry-delay 1 -o f U/f.bin
curl -s --retry 2 --retry-all-errors -o f U/f.bin
curl -s --limit-rate 10M -o f U/f.bin
curl -s --max-redirs 3 -L -o f U/redirect
curl -s --http1.1 --compressed -o f U/f.bin
curl -s --proto =http,https -o f U/f.bin
curl -s --proto =https -o f U/f.bin
curl -s --url U/f.bin -o f
curl -s -X GET -o f U/f.bin
curl -s -4 -o f U/f.bin
curl -s -k -o f U/f.bin
curl -s --noproxy '*' -o f U/f.bin
curl -s --no-keepalive --tcp-nodelay -N -o f U/f.bin
curl -s --speed-time 30 --speed-limit 1 -o f U/f.bin
curl -s -C - -o f U/f.bin
curl -s -R -o f U/f.bin
curl -s -g -o f 'U/f.bin?a=[1]'
curl -s -Z -O U/f.bin -O U/small.json
curl -s --remote-name-all U/f.bin U/small.json
curl -s U/small.json > body
curl -fsSL U/redirect > body
curl -s -o - U/small.json > body
curl -s U/f.bin -o /dev/null
curl -s -f U/404 > body
curl -s -o empty U/empty
curl -s -o f U/chunked
curl --nonsense U/f.bin
curl
"""
WGET = """
wget U/f.bin
wget -q U/f.bin
wget --quiet U/small.json
wget -nv U/f.bin
wget -q -O f U/f.bin
wget -qO f U/small.json
wget --output-document=f -q U/f.bin
wget -qO- U/small.json > body
wget -q -O - U/f.bin > body
wget -q -O old U/small.json
wget -q -P d U/f.bin
wget -q --directory-prefix=d U/f.bin
wget -q -c U/f.bin
wget -q -nc U/f.bin
wget -q -N U/f.bin
wget -q --timestamping U/small.json
wget -q --show-progress U/f.bin
wget -q -x U/sub/f.txt
wget -q -x -nH U/sub/f.txt
wget -q --force-directories -P d U/sub/f.txt
wget -q --content-disposition U/named
wget -q -U agent --referer=http://page/ U/f.bin
wget -q --header 'Cookie: a=b' U/cookie
wget -q --user me --password pw U/login
wget -q --user=me --password=pw --auth-no-challenge U/login
wget -q U/login
wget -q --user me --password wrong U/login
wget -q U/404
wget -q -t 1 R/f
wget -q --tries=2 -T 5 U/f.bin
wget -q --timeout=5 --waitretry=1 U/f.bin
wget -q --no-check-certificate --no-proxy U/f.bin
wget -q -4 --no-cache U/f.bin
wget -q --limit-rate=10m U/f.bin
wget -q --max-redirect=3 -O f U/redirect
wget -q -w 0 U/f.bin U/small.json
wget -q -i list
wget -q --input-file=list
wget -q -np -nH --cut-dirs=1 U/f.bin
wget -r -q -np -R 'index.html*' U/sub/
wget -q -m -np -R 'index.html*' U/sub/
wget -q -r -np -nH -R 'index.html*' U/sub/
wget -q -r -np -nH --cut-dirs=1 -P d -R 'index.html*' U/sub/
wget -q -r -l 1 -np -A txt U/sub/
wget -q -e robots=off -r -np -R 'index.html*' U/sub/
wget --nonsense U/f.bin
wget
"""
# What is other in these lines, by design: the status of ferry, or None where the files differ.
DIFFERENCES = {
    # The URL is refused as the rest of the command line is.
    "curl -s --proto =https -o f U/f.bin": 2,
    "wget": 2,
    # The directory of a host has no port in its name.
    "wget -q -x U/sub/f.txt": None,
    "wget -q --force-directories -P d U/sub/f.txt": None,
}


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def file(self, body, **fields):
        tag = '"%s"' % hashlib.sha256(body).hexdigest()[:16]
        fields = {"ETag": tag, "Last_Modified": "Mon, 01 Jan 2024 00:00:00 GMT", "Accept_Ranges": "bytes",
                  "Content_Type": "application/octet-stream"} | fields
        asked = self.headers.get("Range")
        if asked and self.headers.get("If-Range", tag) == tag:
            start, _, end = asked.removeprefix("bytes=").partition("-")
            first, last = int(start), min(int(end or len(body)), len(body) - 1)
            if first >= len(body):
                return self.answer(416, Content_Range=f"bytes */{len(body)}")
            return self.answer(206, body[first:last + 1], Content_Range=f"bytes {first}-{last}/{len(body)}", **fields)
        self.answer(200, body, **fields)

    def page(self, *names):
        links = "".join(f'<a href="{name}">{name}</a>\n' for name in names)
        self.answer(200, f"<html><head><title>Index of</title></head><body>{links}</body></html>".encode(),
                    Content_Type="text/html")

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path == "/redirect":
            return self.answer(302, Location="/f.bin")
        if path == "/named":
            return self.file(SMALL, Content_Disposition='attachment; filename="real.json"')
        if path == "/cookie" and "a=b" not in self.headers.get("Cookie", ""):
            return self.answer(403)
        if path == "/login" and self.headers.get("Authorization") != "Basic bWU6cHc=":
            return self.answer(401, WWW_Authenticate='Basic realm="a"')
        if path == "/chunked":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for _ in range(3):
                self.wfile.write(b"400\r\n" + b"x" * 1024 + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")
            return None
        if path == "/503":
            return self.answer(503)
        if path == "/sub/":
            return self.page("f.txt", "deep/")
        if path == "/sub/deep/":
            return self.page("g.txt")
        files = {
            "/f.bin": BODY, "/small.json": SMALL, "/empty": b"", "/cookie": SMALL, "/login": SMALL,
            "/sub/f.txt": b"one\n", "/sub/deep/g.txt": b"two\n",
        }
        return self.file(files[path]) if path in files else self.answer(404)


def refusing_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def tree(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in ("ferry-manifest.jsonl", ".wget-hsts")
    }


class Commands(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.place = f"http://127.0.0.1:{cls.server.server_port}"
        cls.refusing = f"http://127.0.0.1:{refusing_port()}"
        cls.folder = tempfile.TemporaryDirectory()
        cls.environment = own_environment(Path(cls.folder.name))

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()
        cls.folder.cleanup()

    def run_line(self, line, before):
        """The files and the exit status after a line, in a directory with a file and a list."""
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "old").write_bytes(OLD)
            (folder / "list").write_text(f"{self.place}/f.bin\n{self.place}/small.json\n")
            words, _, output = line.partition(" > ")
            words = [word.replace("U/", self.place + "/").replace("R/", self.refusing + "/") for word in shlex.split(words)]
            target = open(folder / output, "wb") if output else subprocess.DEVNULL
            end = subprocess.run(
                before + words, cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=target,
                stderr=subprocess.PIPE, timeout=PATIENCE * 5)
            if output:
                target.close()
            return {"status": end.returncode, "files": tree(folder)}, end.stderr.decode(errors="replace")

    def compare(self, lines):
        for line in lines.strip().split("\n"):
            with self.subTest(line=line):
                (original, _), (ours, said) = self.run_line(line, []), self.run_line(line, [program("ferry")])
                if line in DIFFERENCES:
                    self.assertNotEqual(ours, original)
                    other = DIFFERENCES[line]
                    self.assertEqual(ours["status"], original["status"] if other is None else other, said)
                    self.assertEqual(sorted(ours["files"].values()), sorted(original["files"].values()), said)
                else:
                    self.assertEqual(ours, original, said)

    def test_hundred(self):
        self.assertGreaterEqual(len((CURL + WGET).strip().split("\n")), 100)

    def test_curl(self):
        self.compare(CURL)

    def test_wget(self):
        self.compare(WGET)


if __name__ == "__main__":
    unittest.main()
