"""The world of a fleet's test: PostgreSQL, nginx as the origin, and workers in network namespaces on one bridge."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path

FERRY = os.environ["FERRY"]
NET = "10.231.77"
DATABASE_PORT = 54377
ORIGIN_PORT = 8077
POSTGRES = max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)

NGINX = """
user root;
worker_processes 1;
pid {root}/nginx.pid;
error_log {root}/nginx.error;
events {{ worker_connections 4096; }}
http {{
    log_format log '$msec $remote_addr $status $host $request_uri $http_range';
    access_log {root}/access.log log buffer=64k flush=1s;
    keepalive_requests 1000000;
    reset_timedout_connection on;
    server {{
        listen {net}.1:{port} backlog=4096;
        location ~ ^/f/ {{ default_type text/plain; return 200 "$host$request_uri\\n"; }}
        location ~ ^/agent/ {{ default_type text/plain; return 200 "$host $http_user_agent $http_x_key\\n"; }}
        location ~ ^/gone/ {{ return 404; }}
        location /slow/ {{ root {root}; limit_rate 400k; rewrite ^ /large break; }}
    }}
}}
"""


def eventually(what, holds, seconds=60):
    """Returns once the condition holds; fails with what was waited for."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **options).stdout


class World:
    def __init__(self, workers, hosts):
        self.root = Path(tempfile.mkdtemp(prefix="ferry-fleet-"))
        self.root.chmod(0o755)
        self.workers = workers
        self.hosts = hosts
        self.kills = []  # (worker, seconds since 1970)
        self.cuts = []  # (worker, first and last second of a lost link or database)
        self.cut_since = {}
        self.processes = {}
        self.pid_of_nginx = None
        self.data = None
        self.url = f"postgres://ferry@{NET}.1:{DATABASE_PORT}/postgres"

    # ------------------------------------------------------------------------------------------------ start and end

    def start(self):
        run("clang", "-O1", "-shared", "-fPIC", "-o", self.root / "clock.so", Path(__file__).with_name("clock.c"))
        self.network()
        self.database_new()
        self.origin()

    def network(self):
        self.unnetwork()
        run("ip", "link", "add", "ferryfleet", "type", "bridge")
        run("ip", "addr", "add", f"{NET}.1/24", "dev", "ferryfleet")
        run("ip", "link", "set", "ferryfleet", "up")
        for number in range(self.workers):
            name = self.namespace(number)
            folder = Path("/etc/netns") / name
            folder.mkdir(parents=True, exist_ok=True)
            lines = [f"{NET}.1 h{host}.test" for host in range(self.hosts)]
            # Nobody has the second address.
            lines += [f"{NET}.1 closed{host}.test\n{NET}.250 silent{host}.test" for host in range(10)]
            (folder / "hosts").write_text("127.0.0.1 localhost\n" + "\n".join(lines) + "\n")
            (folder / "nsswitch.conf").write_text("hosts: files\n")
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"ffleet{number}", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "link", "set", f"ffleet{number}", "master", "ferryfleet", "up")
            inside = ("ip", "netns", "exec", name)
            run(*inside, "ip", "link", "set", "lo", "up")
            run(*inside, "ip", "addr", "add", f"{NET}.{number + 10}/24", "dev", "eth0")
            run(*inside, "ip", "link", "set", "eth0", "up")

    def namespace(self, number):
        return f"ferryfleet{number}"

    def unnetwork(self):
        for number in range(16):
            # The kernel removes the devices of a deleted namespace only some time later, and until then their names are taken.
            subprocess.run(["ip", "link", "del", f"ffleet{number}"], capture_output=True)
            subprocess.run(["ip", "netns", "del", self.namespace(number)], capture_output=True)
            shutil.rmtree(Path("/etc/netns") / self.namespace(number), ignore_errors=True)
        subprocess.run(["ip", "link", "del", "ferryfleet"], capture_output=True)

    def as_postgres(self, *words):
        return run("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *words, cwd="/")

    def database_new(self):
        folder = self.root / "postgres"
        folder.mkdir()
        shutil.chown(folder, "postgres", "postgres")
        self.data = folder / "data"
        self.as_postgres(POSTGRES / "initdb", "-D", self.data, "-A", "trust", "-U", "ferry", "--no-sync")
        with open(self.data / "postgresql.conf", "a") as file:
            file.write(
                f"listen_addresses = '{NET}.1'\nport = {DATABASE_PORT}\nunix_socket_directories = ''\n"
                "max_connections = 60\nautovacuum_naptime = 1s\nlog_statement = 'none'\nstats_fetch_consistency = none\n"
                "shared_preload_libraries = 'pg_stat_statements'\n")
        with open(self.data / "pg_hba.conf", "a") as file:
            file.write(f"host all stranger {NET}.0/24 scram-sha-256\nhost all all {NET}.0/24 trust\n")
        self.database_start()
        self.sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")

    def database_start(self):
        self.as_postgres(POSTGRES / "pg_ctl", "-D", self.data, "-l", self.data / "log", "-w", "start")
        self.cut_ends(range(self.workers))

    def database_stop(self):
        self.cut_begins(range(self.workers))
        self.as_postgres(POSTGRES / "pg_ctl", "-D", self.data, "-m", "immediate", "stop")

    def origin(self):
        (self.root / "large").write_bytes(os.urandom(1 << 20))
        conf = self.root / "nginx.conf"
        conf.write_text(NGINX.format(root=self.root, net=NET, port=ORIGIN_PORT))
        run("nginx", "-c", conf, "-p", self.root)
        self.pid_of_nginx = int((self.root / "nginx.pid").read_text())

    def stop(self):
        for number in list(self.processes):
            self.kill(number, noted=False)
        if self.pid_of_nginx:
            os.kill(self.pid_of_nginx, signal.SIGTERM)
        if self.data:
            subprocess.run(
                ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", POSTGRES / "pg_ctl", "-D", self.data,
                 "-m", "immediate", "stop"], capture_output=True, cwd="/")
        self.unnetwork()
        if os.environ.get("FLEET_KEEP") is None:
            shutil.rmtree(self.root, ignore_errors=True)

    # -------------------------------------------------------------------------------------------------------- actions

    def sql(self, statement):
        """The rows of a statement, as lists of texts."""
        text = run("psql", "-h", f"{NET}.1", "-p", DATABASE_PORT, "-U", "ferry", "-AtqX", "-F", "\x1f", "-v",
                   "ON_ERROR_STOP=1", "-c", statement, "postgres")
        return [line.split("\x1f") for line in text.splitlines()]

    def number(self, statement):
        return int(self.sql(statement)[0][0] or 0)

    def ferry(self, *words):
        return run(FERRY, *words, cwd=self.root)

    def work(self, number, *words, hours=0, until_done=True):
        """Starts a worker, whose clock is wrong by so many hours."""
        environment = {**os.environ, "HOME": str(self.root)}
        if hours:
            environment |= {
                "LD_PRELOAD": str(self.root / "clock.so"), "CLOCK_OFFSET": str(3600 * hours)}
        log = open(self.root / f"worker{number}.log", "ab")
        self.processes[number] = subprocess.Popen(
            ["ip", "netns", "exec", self.namespace(number), FERRY, "work", self.url, "--allow-private", "--name", f"w{number}", "--state",
             str(self.root / f"state{number}"), *(["--until-done"] if until_done else []), *words],
            env=environment, stdout=log, stderr=log, cwd=self.root)
        log.close()

    def kill(self, number, noted=True):
        process = self.processes.pop(number)
        if process.poll() is None:
            process.kill()
            if noted:
                self.kills.append((number, time.time()))
        process.wait()

    def link(self, number, state):
        if state == "down":
            self.cut_begins([number])
        run("ip", "link", "set", f"ffleet{number}", state)
        if state == "up":
            self.cut_ends([number])

    def cut_begins(self, workers):
        for number in workers:
            self.cut_since[number] = time.time()

    def cut_ends(self, workers):
        for number in workers:
            if number in self.cut_since:
                self.cuts.append((number, self.cut_since.pop(number), time.time()))

    def status(self):
        return [json.loads(line) for line in self.ferry("fleet", "status", self.url, "--json").splitlines()]

    def log(self):
        """The origin's log: (seconds, worker, status, host, path, whether the rest of a file was requested)."""
        os.kill(self.pid_of_nginx, signal.SIGUSR1)
        time.sleep(1.5)
        entries = []
        for line in (self.root / "access.log").read_text().splitlines():
            words = line.split(" ")
            entries.append((float(words[0]), int(words[1].rsplit(".", 1)[1]) - 10, int(words[2]), words[3], words[4],
                            words[5] != "-"))
        return entries


def most_in_a_second(times):
    times = sorted(times)
    most, first = 0, 0
    for last, time_ in enumerate(times):
        while times[first] <= time_ - 1:
            first += 1
        most = max(most, last - first + 1)
    return most


def by_url(entries):
    found = defaultdict(list)
    for entry in entries:
        found[f"http://{entry[3]}:{ORIGIN_PORT}{entry[4]}"].append(entry)
    return found
