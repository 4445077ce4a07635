"""`ferry sync` of a tree of directories, served by the servers that people have: each time the tree that `wget -r` fetches.

Environment: SYNC_ROUNDS (how often each tree is synced, 3).
"""

import hashlib
import http.server
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from functools import partial
from pathlib import Path

from servers import PATIENCE, end, own_environment, program

ROUNDS = int(os.environ.get("SYNC_ROUNDS", "3"))
WIDTHS = (12, 5, 5)


def make_tree(folder, widths=WIDTHS):
    """Directories in directories; each has a file, but for one that is empty on each level."""
    for number in range(widths[0]):
        inner = folder / f"d{number:02}"
        inner.mkdir(parents=True)
        if number < widths[0] - 1:
            (inner / "file.txt").write_bytes(f"{inner}\n".encode() * (number + 1))
            if len(widths) > 1:
                make_tree(inner, widths[1:])


def tree(folder):
    """The files below a folder: their paths and digests."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*") if path.is_file() and path.name != "ferry-manifest.jsonl"
    }


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def python(site, port, _folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return lambda: (server.shutdown(), server.server_close())


def started(words):
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return partial(end, process)


def nginx(site, port, folder):
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ access_log off; server {{ listen 127.0.0.1:{port}; root {site}; autoindex on; }} }}\n")
    return started(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])


def apache(site, port, folder):
    modules = "/usr/lib/apache2/modules"
    (folder / "apache.conf").write_text(
        f"ServerRoot {folder}\nServerName localhost\nListen 127.0.0.1:{port}\nPidFile {folder}/apache.pid\n"
        f"ErrorLog {folder}/apache.log\n"
        + "".join(f"LoadModule {name}_module {modules}/mod_{name}.so\n"
                  for name in ("mpm_event", "authz_core", "dir", "autoindex"))
        + f"DocumentRoot {site}\n<Directory {site}>\nOptions Indexes\nRequire all granted\n</Directory>\n")
    return started(["apache2", "-D", "FOREGROUND", "-f", str(folder / "apache.conf")])


def lighttpd(site, port, folder):
    (folder / "lighttpd.conf").write_text(
        f'server.document-root = "{site}"\nserver.port = {port}\nserver.bind = "127.0.0.1"\n'
        f'server.modules = ("mod_dirlisting")\ndir-listing.activate = "enable"\n')
    return started(["lighttpd", "-D", "-f", str(folder / "lighttpd.conf")])


def caddy(site, port, _folder):
    return started(["caddy", "file-server", "--browse", "--root", str(site), "--listen", f"127.0.0.1:{port}"])


class Trees(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="ferry-sets-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.site = cls.folder / "site"
        make_tree(cls.site)
        for path in [cls.folder, *cls.folder.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)  # Servers may run as users of their own.

    def check(self, serve):
        port = free_port()
        folder = Path(tempfile.mkdtemp(prefix="server-", dir=self.folder))
        shutil.chown(folder, pwd.getpwuid(os.getuid()).pw_name)
        self.addCleanup(serve(self.site, port, folder))
        for _ in range(int(PATIENCE * 10)):
            with socket.socket() as connection:
                if connection.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        url = f"http://127.0.0.1:{port}/"
        expected = tree(self.site)
        subprocess.run(
            ["wget", "-q", "-r", "-l", "inf", "-np", "-nH", "-R", "index.html*", "-P", str(folder / "wget"), url], timeout=PATIENCE * 5)
        self.assertEqual(tree(folder / "wget"), expected)
        environment = own_environment(folder)
        for number in range(ROUNDS):
            place = folder / f"set{number}"
            for arguments in ([], ["--delete"]):
                done = subprocess.run(
                    [program("ferry"), "sync", *arguments, url, str(place)], env=environment, capture_output=True, text=True,
                    timeout=PATIENCE * 5)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(tree(place), expected, f"round {number}\n{done.stdout}{done.stderr}")
            shutil.rmtree(place)

    def test_http_server(self):
        self.check(python)

    def test_nginx(self):
        self.check(nginx)

    def test_apache(self):
        self.check(apache)

    def test_lighttpd(self):
        self.check(lighttpd)

    def test_caddy(self):
        self.check(caddy)


if __name__ == "__main__":
    unittest.main()
