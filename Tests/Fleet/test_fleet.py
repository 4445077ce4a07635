"""A fleet under losses: every address has exactly one result, and the database's counts are those of the origin's log."""

import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

from world import FERRY, NET, ORIGIN_PORT, DATABASE_PORT, World, by_url, eventually, most_in_a_second, run

FILES = int(os.environ.get("FLEET_FILES", "20000"))
HOSTS = int(os.environ.get("FLEET_HOSTS", "200"))
SECONDS = float(os.environ.get("FLEET_SECONDS", "60"))
SEED = int(os.environ.get("FLEET_SEED", str(random.SystemRandom().randrange(1 << 32))))
WORKERS = 4
PARALLEL = 32
LEASE = 8
RATE, LIMITED, LIMITED_FILES = 5, 4, 60
SLOW = 24
OPTIONS = ("-j", str(PARALLEL), "--lease", f"{LEASE}s", "--no-fsync")
METRICS_PORT = 9377
# A worker's metrics are served on loopback, which each network namespace has for itself.
FETCH = """
import sys, urllib.request
request = urllib.request.Request(sys.argv[1], headers={"Authorization": sys.argv[2]})
sys.stdout.write(urllib.request.urlopen(request, timeout=30).read().decode())
"""


class Fleet(unittest.TestCase):
    def setUp(self):
        self.world = World(WORKERS, HOSTS)
        self.addCleanup(self.world.stop)
        self.world.start()

    def add(self, name, lines, *options):
        path = self.world.root / f"{name}.txt"
        path.write_text("".join(line + "\n" for line in lines))
        self.world.ferry("fleet", "add", self.world.url, path, "--into", self.world.root / "data", *options)

    def wait_for_workers(self, seconds):
        """Waits for all workers; starts those again that a lost database has ended."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if all(process.poll() is not None for process in self.world.processes.values()):
                return
            time.sleep(0.2)
        logs = "".join(path.read_text()[-2000:] for path in self.world.root.glob("worker*.log"))
        self.fail(f"workers have not ended: {self.world.status()}\n{logs}")

    def test_storm(self):
        """Workers, database and network are lost at random; clocks are wrong; a transaction stays open."""
        print(f"FLEET_SEED={SEED}", file=sys.stderr)
        dice = random.Random(SEED)
        world = self.world
        lines = [f"http://h{index % HOSTS}.test:{ORIGIN_PORT}/f/{index}" for index in range(FILES)]
        for index in range(LIMITED * LIMITED_FILES):
            lines.append(f"http://h{index % LIMITED}.test:{ORIGIN_PORT}/f/limited/{index}")
        for index in range(SLOW):
            lines.append(f"http://h{HOSTS - 1}.test:{ORIGIN_PORT}/slow/{index}")
        lines.append(f"http://h{HOSTS - 1}.test:{ORIGIN_PORT}/gone/1")
        # The first rows of some hosts are their whole budget: they are left out of the many.
        lines = [line for line in lines if "/limited/" in line or not any(f"//h{host}.test" in line for host in range(LIMITED))]
        dice.shuffle(lines)
        world.ferry("fleet", "init", world.url)
        for host in range(LIMITED):
            world.ferry("fleet", "host", world.url, f"h{host}.test", "--rate", f"{RATE}/s", "--connections", "4")
        self.add("storm", lines, "--part-rows", "5000")
        hours = {1: +1, 2: -1}
        for number in range(WORKERS):
            world.work(number, *OPTIONS, hours=hours.get(number, 0))
        stop = threading.Event()
        # Others can see the rows as they were at its start, so that no dead row is removed.
        holder = threading.Thread(target=self.hold, args=(stop,))
        holder.start()
        dead = []
        try:
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                time.sleep(dice.uniform(1, 4))
                number = dice.randrange(WORKERS)
                match dice.randrange(5):
                    case 0 | 1 | 2:
                        world.kill(number)
                        time.sleep(dice.choice([0.2, 1]))
                        world.work(number, *OPTIONS, hours=hours.get(number, 0))
                    case 3:
                        world.link(number, "down")
                        time.sleep(dice.uniform(0.5, 2 * LEASE if dice.random() < 0.3 else 2))
                        world.link(number, "up")
                    case 4:
                        world.database_stop()
                        time.sleep(dice.uniform(0.5, 4))
                        world.database_start()
                dead.append(self.dead_rows())
                if all(process.poll() is not None for process in world.processes.values()):
                    break
        finally:
            stop.set()
            holder.join()
        # One worker never comes back: others take what it held, also its half files.
        lost = dice.randrange(WORKERS)
        world.kill(lost)
        self.wait_for_workers(180 + FILES / 100)
        self.check(lines, dead)

    def hold(self, stop):
        """Holds a transaction open, and another after a loss of the database."""
        while not stop.is_set():
            process = subprocess.Popen(
                ["psql", "-h", f"{NET}.1", "-p", str(DATABASE_PORT), "-U", "ferry", "-qX", "postgres"],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
            process.stdin.write(
                "SET idle_in_transaction_session_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ;"
                " SELECT count(*) FROM ferry.lease;\n")
            process.stdin.flush()
            while not stop.is_set() and process.poll() is None:
                time.sleep(0.2)
            process.kill()
            process.wait()
            time.sleep(0.2)

    def dead_rows(self):
        try:
            return {name: int(count) for name, count in self.world.sql(
                "SELECT regexp_replace(relname, '_[0-9_]+$', ''), sum(n_dead_tup) FROM pg_stat_user_tables"
                " WHERE schemaname = 'ferry' GROUP BY 1")}
        except subprocess.CalledProcessError:
            return {}

    def check(self, lines, dead):
        world, count = self.world, len(lines)
        status = world.status()[0]
        self.assertEqual((status["total"], status["leased"], status["waiting"]), (count, 0, 0), status)
        self.assertEqual((status["completed"], status["failed"]), (count - 1, 1), self.failures())
        # One result for each address, and the file that it names.
        results = [json.loads(line) for line in world.ferry("fleet", "results", world.url).splitlines()]
        self.assertEqual(sorted(result["url"] for result in results), sorted(lines))
        whole = [result for result in results if result["status"] == "ok"]
        self.assertEqual(len({result["path"] for result in whole}), count - 1)
        for result in whole:
            content = Path(result["path"]).read_bytes()
            if "/f/" in result["url"]:
                address = result["url"].removeprefix("http://").replace(f":{ORIGIN_PORT}", "")
                self.assertEqual(content.decode(), address + "\n")
            else:
                self.assertEqual(content, (world.root / "large").read_bytes())
        names = [path for path in (world.root / "data").rglob("*") if path.is_file()]
        self.assertEqual({str(path) for path in names}, {result["path"] for result in whole})
        # Times are those of the database, whatever the workers' clocks say.
        beyond = world.sql(
            "SELECT (line->>'time')::timestamptz AS at, batch.added, now() FROM ferry.result, ferry.batch WHERE"
            " NOT (line->>'time')::timestamptz BETWEEN batch.added - interval '1 minute' AND now() + interval '1 minute'")
        self.assertEqual(beyond[:3], [])
        # The origin's log: what was requested twice was held by a worker that was killed, or cut off, in between.
        log = world.log()
        urls = by_url(entry for entry in log if entry[2] in (200, 404))
        self.assertEqual(set(urls), set(lines))
        twice = {url: entries for url, entries in urls.items() if len(entries) > 1}
        unexplained, cut = [], 0
        for url, entries in twice.items():
            entries.sort()
            for first, second in zip(entries, entries[1:]):
                if "/slow/" in url or any(
                        worker == first[1] and first[0] - 30 <= at <= second[0] + 1 for worker, at in world.kills):
                    continue
                # A worker that is cut off for longer than its leases is as one that is killed, but ends no process.
                if any(worker == first[1] and begun <= second[0] and end >= first[0] - LEASE
                       for worker, begun, end in world.cuts):
                    cut += 1
                else:
                    unexplained.append((url, first, second))
        print(f"{count} files, {len(log)} requests, {len(twice)} requested again, {len(world.kills)} kills,"
              f" {len(world.cuts)} cuts with {cut} of these, {sum(entry[5] for entry in log)} went on with a half file",
              file=sys.stderr)
        self.assertEqual(unexplained[:5], [])
        # Leases of seconds are lost in an outage of the database, with results that could not be reported.
        self.assertLessEqual(cut, max(3 * PARALLEL, count / 100))
        for host in range(LIMITED):
            times = [entry[0] for entry in log if entry[3] == f"h{host}.test"]
            self.assertLessEqual(most_in_a_second(times), RATE, f"h{host}.test")
        # Rows of lists and results are never updated; of the others few are.
        worst = {name: max((rows.get(name, 0) for rows in dead), default=0) for name in {n for rows in dead for n in rows}}
        print(f"dead rows at most: {worst}", file=sys.stderr)
        self.assertEqual((worst.get("entry", 0), worst.get("result", 0)), (0, 0))
        leases = count / 500
        self.assertLess(worst.get("lease", 0), 4 * leases + 100)
        self.assertLess(worst.get("worker", 0), WORKERS * (SECONDS + 60))
        self.assertLess(worst.get("pace", 0), LIMITED * WORKERS * 2 * (SECONDS + 60))

    def failures(self):
        return [row[0][:300] for row in self.world.sql(
            "SELECT line FROM ferry.result WHERE status <> 'ok' ORDER BY number LIMIT 5")]

    def test_actions(self):
        """pause, resume, drain, retry, remove."""
        world = self.world
        world.ferry("fleet", "init", world.url)
        self.add("first", [f"http://h1.test:{ORIGIN_PORT}/f/{index}" for index in range(1200)] + [
            f"http://h1.test:{ORIGIN_PORT}/gone/{index}" for index in range(3)])
        world.ferry("fleet", "pause", world.url)
        world.work(0, *OPTIONS, "--metrics-port", str(METRICS_PORT), until_done=False)
        time.sleep(3)
        self.assertEqual((world.status()[0]["state"], world.status()[0]["leased"]), ("paused", 0))
        world.ferry("fleet", "resume", world.url)
        self.settle(lambda: world.status()[0]["waiting"] + world.status()[0]["leased"] == 0)
        self.assertEqual(world.status()[0]["failed"], 3)
        self.assertEqual({json.loads(line)["httpStatus"] for line in world.ferry(
            "fleet", "results", world.url, "--failed").splitlines()}, {404})
        self.check_metrics()
        world.ferry("fleet", "retry", world.url, "--only", "timeout")
        self.assertEqual(world.status()[0]["failed"], 3)
        world.ferry("fleet", "retry", world.url, "--only", "404")
        self.settle(lambda: world.status()[0]["failed"] == 3 and world.status()[0]["waiting"] == 0)
        self.assertEqual(sum("/gone/" in entry[4] for entry in world.log()), 6)
        self.assertEqual(world.status()[0]["completed"], 1200)
        world.ferry("fleet", "remove", world.url, "--batch", "first")
        self.assertEqual(world.status(), [])
        self.assertEqual(world.number("SELECT count(*) FROM pg_class WHERE relname ~ '^(entry|result|next)_[0-9]'"), 0)

    def metrics(self, number):
        """The text of a worker's metrics, and its series with their values."""
        token = (self.world.root / f"state{number}" / "metrics-token").read_text().strip()
        text = run("ip", "netns", "exec", self.world.namespace(number), sys.executable, "-c", FETCH,
                   f"http://127.0.0.1:{METRICS_PORT}/metrics", f"Bearer {token}")
        lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
        return text, {series: float(value) for series, value in lines}

    def check_metrics(self):
        """A worker that has fetched 1200 files and failed at 3, with the database, without it, and with it again."""
        world = self.world
        self.settle(lambda: self.metrics(0)[1]["ferry_fleet_leases"] == 0)
        text, values = self.metrics(0)
        self.assertEqual(
            {name: values[name] for name in values if name.startswith("ferry_fleet_rows")},
            {'ferry_fleet_rows{state="waiting"}': 0, 'ferry_fleet_rows{state="running"}': 0,
             'ferry_fleet_rows{state="undelivered"}': 0, 'ferry_fleet_rows_ended_total{result="completed"}': 1200,
             'ferry_fleet_rows_ended_total{result="failed"}': 3})
        self.assertEqual((values["ferry_fleet_database_up"], values["ferry_fleet_fenced"]), (1, 0))
        self.assertTrue(0 < values["ferry_fleet_deadline_seconds"] <= LEASE, values["ferry_fleet_deadline_seconds"])
        self.assertLess(values["ferry_fleet_silence_seconds"], LEASE)
        self.assertGreater(values["ferry_fleet_worker_seconds"], 3)
        self.assertEqual(values["ferry_fleet_connections_total"], 2)
        for statement, least in (("beat", 2), ("claim", 3), ("rows", 3), ("append", 3), ("finish", 3)):
            name = f'ferry_fleet_statement_seconds_count{{statement="{statement}"}}'
            self.assertGreaterEqual(values[name], least, name)
        self.assertEqual(values['ferry_downloads_ended_total{result="completed",reason="downloaded"}'], 1200)
        self.assertGreaterEqual(values['ferry_requests_total{result="4xx"}'], 3)
        self.assertEqual(values["ferry_slots"], PARALLEL)
        if shutil.which("promtool"):
            found = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
            self.assertEqual((found.returncode, found.stdout, found.stderr), (0, "", ""))
        with self.assertRaises(subprocess.CalledProcessError) as refused:
            run("ip", "netns", "exec", world.namespace(0), sys.executable, "-c", FETCH,
                f"http://127.0.0.1:{METRICS_PORT}/metrics", "Bearer wrong")
        self.assertIn("401", refused.exception.stderr)
        world.database_stop()
        self.settle(lambda: self.metrics(0)[1]["ferry_fleet_database_up"] == 0, database=False)
        self.settle(lambda: self.metrics(0)[1]["ferry_fleet_fenced"] == 1, database=False)
        lost = self.metrics(0)[1]
        self.assertGreater(lost['ferry_fleet_statements_failed_total{statement="beat"}'], 0)
        self.assertLessEqual(lost["ferry_fleet_deadline_seconds"], 0)
        world.database_start()
        self.settle(lambda: self.metrics(0)[1]["ferry_fleet_database_up"] == 1)
        self.settle(lambda: self.metrics(0)[1]["ferry_fleet_connections_total"] == 4)
        self.assertEqual(self.metrics(0)[1]["ferry_fleet_fenced"], 0)

    def test_held(self):
        """A file that something else holds for a while, as a worker does that has lost its lease, is fetched after that."""
        world = self.world
        world.ferry("fleet", "init", world.url)
        self.add("held", [f"http://h1.test:{ORIGIN_PORT}/f/{index}" for index in range(3)], "--batch", "held")
        held = world.root / "data/held/0/0/1-0.part"
        held.parent.mkdir(parents=True)
        held.write_text("somebody else's")
        world.work(0, *OPTIONS)
        self.settle(lambda: world.status()[0]["completed"] == 2)
        time.sleep(3)
        self.assertEqual(world.status()[0]["failed"], 0)
        self.assertEqual(held.read_text(), "somebody else's")
        held.unlink()
        self.wait_for_workers(60)
        self.assertEqual((world.status()[0]["completed"], world.status()[0]["failed"]), (3, 0))

    def test_dead_hosts(self):
        """Rows of hosts that are dead hold up no others, are tried as often as --retries says, and end."""
        world = self.world
        world.ferry("fleet", "init", world.url)
        dead = [f"http://closed{index % 10}.test:9/f/{index}" for index in range(60)]
        dead += [f"http://silent{index % 10}.test:{ORIGIN_PORT}/f/{index}" for index in range(60)]
        dead += [f"http://nobody{index}.test:{ORIGIN_PORT}/f/{index}" for index in range(20)]
        good = [f"http://h{index % HOSTS}.test:{ORIGIN_PORT}/f/{index}" for index in range(400)]
        self.add("dead", dead + good)
        world.work(0, "-j", "8", "--retries", "4", "--connect-timeout", "2", "--no-fsync", "--lease", "15m")
        self.wait_for_workers(180)
        self.assertEqual((world.status()[0]["completed"], world.status()[0]["failed"]), (len(good), len(dead)))
        # With eight slots, 140 rows before the good ones would have to end first if they held any while they wait.
        first, last = world.sql(
            "SELECT min((line->>'time')::timestamptz) FILTER (WHERE line->>'url' ~ 'closed|silent') > "
            "max((line->>'time')::timestamptz) FILTER (WHERE status = 'ok'), count(*) FROM ferry.result")[0]
        self.assertEqual((first, int(last)), ("t", len(dead) + len(good)))
        failed = [json.loads(line) for line in world.ferry("fleet", "results", world.url, "--failed").splitlines()]
        self.assertEqual({line["reason"] for line in failed} - {"network", "timeout"}, set())
        for line in failed:
            attempts = line.get("attempts", 0)
            self.assertLessEqual(attempts, 5, line)
            self.assertTrue("was given up" in line["message"] or f"gave up after {attempts} attempt" in line["message"], line)
        self.assertTrue(any("was given up after 5 attempts" in line["message"] for line in failed))

    def test_lost_network(self):
        """A worker that reaches neither the servers nor the database fails no row and gives no server up."""
        world = self.world
        world.ferry("fleet", "init", world.url)
        self.add("lost", [f"http://h{index % HOSTS}.test:{ORIGIN_PORT}/f/{index}" for index in range(2000)])
        world.work(0, "-j", "16", "--retries", "4", "--connect-timeout", "1", "--no-fsync", "--lease", "10m")
        # It has connections to some hosts, and needs those to others.
        eventually("a file has ended", lambda: world.number("SELECT count(*) FROM ferry.result") > 0)
        # The worker's own link stays up. The length of the outage: half a minute is enough to give a host up.
        run("ip", "link", "set", "ferryfleet", "down")
        time.sleep(45)
        run("ip", "link", "set", "ferryfleet", "up")
        self.wait_for_workers(240)
        self.assertEqual((world.status()[0]["completed"], world.status()[0]["failed"]), (2000, 0), self.failures())

    def test_headers(self):
        """Headers of a worker are sent to all hosts, secret ones to one."""
        world = self.world
        world.ferry("fleet", "init", world.url)
        self.add("headers", [f"http://h{host}.test:{ORIGIN_PORT}/agent/{host}" for host in (1, 2)])
        world.work(0, *OPTIONS, "-A", "me/1", "-H", "X-Key: k", "--header-server", f"http://h1.test:{ORIGIN_PORT}")
        self.wait_for_workers(60)
        bodies = sorted(path.read_text() for path in (world.root / "data/headers").rglob("*-*"))
        self.assertEqual(bodies, ["h1.test me/1 k\n", "h2.test me/1 \n"])

    def test_password(self):
        """A wrong or missing password ends the worker, as it would never join."""
        world = self.world
        world.ferry("fleet", "init", world.url)
        world.sql("CREATE ROLE stranger LOGIN PASSWORD 'right'")
        for user in ("stranger:wrong@", "stranger@"):
            done = subprocess.run(
                [FERRY, "work", world.url.replace("ferry@", user), "--allow-private", "--state", str(world.root / "stranger")],
                capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("password", done.stderr)
            self.assertNotIn("wrong@", done.stderr)

    def settle(self, is_true, seconds=60, database=True):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if is_true():
                return
            time.sleep(0.3)
        self.fail(f"not in {seconds} s: {self.world.status() if database else 'without the database'}")


if __name__ == "__main__":
    unittest.main()
