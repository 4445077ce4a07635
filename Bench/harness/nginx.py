"""A private nginx on loopback with its own configuration, ports, files and log; ended by its process id."""

import os
import pwd
import grp
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

CONFIGURATION = """
{user}
worker_processes auto;
pid {prefix}/nginx.pid;
error_log {prefix}/error.log;
daemon off;
events {{ worker_connections 4096; }}
http {{
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    default_type application/octet-stream;
    # Fewer than the files that a process may usually have open, for the rows with 20,000 files.
    open_file_cache max=10000 inactive=1h;
    open_file_cache_valid 1h;
    log_format bench "$connection $msec $request_time $status $body_bytes_sent $request_uri";
    access_log {prefix}/access.log bench;
    limit_conn_zone $server_port zone=all:64k;
    client_body_temp_path {prefix}/body;
    proxy_temp_path {prefix}/proxy;
    fastcgi_temp_path {prefix}/fastcgi;
    uwsgi_temp_path {prefix}/uwsgi;
    scgi_temp_path {prefix}/scgi;
    server {{
        listen {address}:{plain}{socket};
        {others}
        listen {address}:{secure} ssl;
        ssl_certificate {certificate};
        ssl_certificate_key {key};
        location / {{ root {data}; autoindex on; {rules} }}
        location /limited/ {{ alias {data}/; limit_rate 8m; }}
    }}
}}
"""


class Nginx:
    """`inside` are the words in front of a command that run it in the server's namespace. `socket` and `rules` are added to
    the configuration. The server also listens on the addresses `others`."""

    def __init__(self, field, name="nginx", address="127.0.0.1", inside=(), socket="", rules="", others=()):
        self.field, self.address = field, address
        self._inside, self._socket, self._rules, self._others = list(inside), socket, rules, others
        self.prefix = field.directory / name
        self.ca, self._certificate, self._key = field.certificate()
        self.plain, self.secure = free_ports(2)
        self._process = None

    def __enter__(self):
        program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/local/sbin")
        if program is None:
            raise SystemExit("bench: nginx is missing")
        shutil.rmtree(self.prefix, ignore_errors=True)
        self.prefix.mkdir()
        user = ""
        if os.getuid() == 0:  # Otherwise, its workers would run as `nobody`, who may not read the data.
            user = f"user {pwd.getpwuid(0).pw_name} {grp.getgrgid(0).gr_name};"
        (self.prefix / "nginx.conf").write_text(CONFIGURATION.format(
            user=user, prefix=self.prefix, data=self.field.data, plain=self.plain, secure=self.secure,
            certificate=self._certificate, key=self._key, address=self.address, socket=self._socket,
            rules=self._rules, others=" ".join(f"listen {each}:{self.plain};" for each in self._others)))
        self._process = subprocess.Popen(
            [*self._inside, program, "-p", str(self.prefix), "-c", str(self.prefix / "nginx.conf")],
            stdin=subprocess.DEVNULL, stderr=open(self.prefix / "stderr.log", "w"))
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and self._process.poll() is None:
            if (self.prefix / "nginx.pid").exists():  # The server is listening by then.
                return self
            time.sleep(0.02)
        said = (self.prefix / "stderr.log").read_text().strip()
        self.__exit__()
        raise SystemExit(f"bench: nginx does not start: {said or 'no answer within 10 s'}")

    def __exit__(self, *_):
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def url(self, path, secure=False, limited=False, address=None):
        """The URL of a file below the data directory."""
        relative = ("limited/" if limited else "") + str(Path(path).relative_to(self.field.data))
        scheme, port = ("https", self.secure) if secure else ("http", self.plain)
        return f"{scheme}://{address or self.address}:{port}/{relative}"

    # ---- the traffic that it served

    def log_position(self):
        return (self.prefix / "access.log").stat().st_size

    def served_since(self, position):
        """The body bytes sent since then. Waits until the log stops growing, because interrupted requests are logged late."""
        before = -1
        for _ in range(40):
            now = self.log_position()
            if now == before and self.connections() == 0:
                break
            before = now
            time.sleep(0.05)
        with open(self.prefix / "access.log") as log:
            log.seek(position)
            return sum(int(line.split()[4]) for line in log)

    def connections(self):
        """The currently established connections to this server."""
        ports = {f"{self.plain:04X}", f"{self.secure:04X}"}
        count = 0
        table = subprocess.run([*self._inside, "cat", "/proc/net/tcp"], stdout=subprocess.PIPE, text=True).stdout
        for line in table.splitlines()[1:]:
            fields = line.split()
            if fields[3] == "01" and fields[1].rsplit(":", 1)[1] in ports:
                count += 1
        return count


class ConnectionWatch:
    """Counts the connections every 20 ms, and keeps the highest count."""

    def __init__(self, nginx):
        self.peak = 0
        self._nginx, self._stop = nginx, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self):
        while not self._stop.wait(0.02):
            self.peak = max(self.peak, self._nginx.connections())

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
