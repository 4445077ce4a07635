"""The fleet's database with others in it: readers with open transactions, roles, lists that are not read to their end."""

import json
import re
import subprocess
import unittest
from pathlib import Path

from world import DATABASE_PORT, FERRY, NET, ORIGIN_PORT, World, eventually

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/fleet.md"
TABLES = "SELECT count(*) FROM pg_class WHERE relname ~ '^(entry|result|next)_[0-9]' AND relkind IN ('r', 'S')"
WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'virtualxid' AND NOT granted"
OPTIONS = ("-j", "16", "--no-fsync", "--lease", "1m")


class Database(unittest.TestCase):
    def setUp(self):
        self.world = World(1, 4)
        self.addCleanup(self.world.stop)
        self.world.start()
        self.world.ferry("fleet", "init", self.world.url)

    def write(self, name, count, gone=0):
        path = self.world.root / f"{name}.txt"
        lines = [f"http://h{index % 4}.test:{ORIGIN_PORT}/f/{name}/{index}" for index in range(count - gone)]
        lines += [f"http://h1.test:{ORIGIN_PORT}/gone/{index}" for index in range(gone)]
        path.write_text("".join(line + "\n" for line in lines))
        return path

    def add(self, name, count, *options, gone=0):
        self.world.ferry("fleet", "add", self.world.url, self.write(name, count, gone), "--into",
                         self.world.root / "data", *options)

    def attempt(self, *words, **options):
        """A command that may fail: its end."""
        return subprocess.run([FERRY, *map(str, words)], cwd=self.world.root, capture_output=True, text=True,
                              timeout=120, **options)

    def work(self, *words, url=None):
        """A worker until nothing is left, with the exit code."""
        world = self.world
        keep, world.url = world.url, url or world.url
        try:
            world.work(0, *OPTIONS, *words)
        finally:
            world.url = keep
        try:
            code = world.processes[0].wait(timeout=120)
            del world.processes[0]
            return code
        except subprocess.TimeoutExpired:
            self.fail(f"the worker has not ended: {world.status()} {(world.root / 'worker0.log').read_text()[-2000:]}")

    def reader(self, statement):
        """A session with an open transaction that has run a statement; its rollback."""
        process = subprocess.Popen(
            ["psql", "-h", f"{NET}.1", "-p", str(DATABASE_PORT), "-U", "ferry", "-AtqX", "postgres"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdin.write(f"BEGIN ISOLATION LEVEL REPEATABLE READ; {statement};\n\\echo read\n")
        process.stdin.flush()
        while process.stdout.readline() != "read\n":
            pass

        def end():
            process.stdin.close()
            process.wait()

        return end

    def test_open_reader(self):
        """A transaction that has read everything delays the removal of a batch alone."""
        world = self.world
        self.add("first", 1200, "--part-rows", "500")
        end = self.reader("SELECT count(*) FROM ferry.entry; SELECT count(*) FROM ferry.result;"
                          " SELECT count(*) FROM ferry.progress")
        # What waited for the reader would fail after 20 seconds.
        self.add("second", 1200, "--part-rows", "500")
        self.assertEqual(self.work(), 0)
        self.assertEqual([(batch["state"], batch["completed"]) for batch in world.status()], [("done", 1200)] * 2)
        removal = subprocess.Popen([FERRY, "fleet", "remove", world.url, "--batch", "first"])
        self.addCleanup(removal.wait)
        self.addCleanup(removal.kill)
        eventually("the removal waits for the reader", lambda: world.number(WAITING) > 0)
        self.add("third", 600)
        self.assertEqual(self.work(), 0)
        self.assertEqual(world.number("SELECT count(*) FROM ferry.result WHERE status = 'ok'"), 3000)
        self.assertIsNone(removal.poll())
        end()
        self.assertEqual(removal.wait(timeout=60), 0)
        self.assertEqual([batch["name"] for batch in world.status()], ["second", "third"])
        self.assertEqual(world.number(TABLES), 2 * 3 + 2 + 2)

    def test_removal_again(self):
        """What a removal that was broken off has left, the next one removes."""
        world = self.world
        self.add("first", 1200, "--part-rows", "500")
        end = self.reader("SELECT count(*) FROM ferry.entry; SELECT count(*) FROM ferry.result")
        removal = subprocess.Popen([FERRY, "fleet", "remove", world.url, "--batch", "first"])
        eventually("the removal waits for the reader", lambda: world.number(WAITING) > 0)
        world.sql("SELECT pg_cancel_backend(pid) FROM pg_locks WHERE locktype = 'virtualxid' AND NOT granted")
        self.assertEqual(removal.wait(timeout=60), 3)
        self.assertEqual([batch["state"] for batch in world.status()], ["removing"])
        self.add("second", 600)
        self.assertEqual(self.work(), 0)
        end()
        world.ferry("fleet", "remove", world.url, "--batch", "first")
        self.assertEqual([batch["name"] for batch in world.status()], ["second"])
        self.assertEqual(world.number(TABLES), 3)

    def test_removal_by_age_again(self):
        """A removal of several batches that was broken off is continued, and nothing is called removed before it is."""
        world = self.world
        for name in ("first", "second", "third"):
            self.add(name, 600, "--part-rows", "500")
        self.assertEqual(self.work(), 0)
        end = self.reader("SELECT count(*) FROM ferry.entry; SELECT count(*) FROM ferry.result")
        removal = subprocess.Popen([FERRY, "fleet", "remove", world.url, "--done-for", "0s"], stderr=subprocess.PIPE,
                                   text=True)
        eventually("the removal waits for the reader", lambda: world.number(WAITING) > 0)
        other = self.attempt("fleet", "remove", world.url, "--batch", "third")
        self.assertEqual(other.returncode, 3, other.stderr)
        self.assertIn("another command removes batches", other.stderr)
        world.sql("SELECT pg_cancel_backend(pid) FROM pg_locks WHERE locktype = 'virtualxid' AND NOT granted")
        text = removal.communicate(timeout=60)[1]
        self.assertEqual(removal.returncode, 3, text)
        self.assertNotIn("batches are removed", text)
        self.assertEqual([batch["state"] for batch in world.status()], ["removing", "done", "done"])
        end()
        # A batch other than the one whose partition is still to be detached.
        world.ferry("fleet", "remove", world.url, "--batch", "third")
        done = self.attempt("fleet", "remove", world.url, "--done-for", "0s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 batches are removed", done.stderr)
        self.assertEqual((world.status(), world.number(TABLES)), ([], 0))

    def test_failed_addition(self):
        """A list that is not read to its end leaves nothing, and no worker waits for it."""
        world = self.world
        empty = world.root / "empty.txt"
        empty.write_text("# nothing\n")
        done = self.attempt("fleet", "add", world.url, empty, "--into", world.root / "data")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual((world.status(), world.number(TABLES)), ([], 0))
        done = self.attempt("fleet", "add", world.url, "nosuch.txt", "--into", world.root / "data")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nosuch.txt: No such file", done.stderr)
        # Lines that cannot be used, in the second piece of the list too: all are reported.
        wrong = world.root / "wrong.txt"
        lines = [f"http://h1.test:8077/f/{index}" for index in range(12_000)]
        wrong.write_text("\n".join(lines[:5] + ["no URL"] + lines[5:] + ["http://me:pw@h1.test/f"]) + "\n")
        done = self.attempt("fleet", "add", world.url, wrong, "--into", world.root / "data", "--batch", "wrong")
        self.assertEqual(done.returncode, 2, done.stderr)
        for text in (" 6: ", " 12002: ", "nothing was added"):
            self.assertIn(text, done.stderr)
        self.assertEqual((world.status(), world.number(TABLES)), ([], 0))
        # A URL in Latin-1 would be another URL.
        wrong.write_bytes("http://h1.test/f/1\nhttp://h1.test/f/caf\u00e9\n".encode("latin-1"))
        done = self.attempt("fleet", "add", world.url, wrong, "--into", world.root / "data", "--batch", "wrong")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(" 2: a URL is not in UTF-8", done.stderr)
        self.assertEqual((world.status(), world.number(TABLES)), ([], 0))
        # A command that is killed while it reads: as long as it runs, workers wait for its rows.
        adding = subprocess.Popen(
            [FERRY, "fleet", "add", world.url, "-", "--batch", "cut", "--into", world.root / "data"],
            stdin=subprocess.PIPE)
        adding.stdin.write(b"".join(b"http://h1.test:8077/f/%d\n" % index for index in range(25_000)))
        adding.stdin.flush()
        eventually("a row is written", lambda: world.number(TABLES) > 0)
        self.assertEqual(world.sql("SELECT ferry.is_done()"), [["f"]])
        adding.kill()
        adding.wait()
        self.assertEqual([batch["state"] for batch in world.status()], ["adding"])
        self.assertEqual(self.work(), 0)
        self.add("again", 20, "--batch", "cut")
        self.assertEqual(self.work(), 0)
        self.assertEqual([(batch["state"], batch["completed"]) for batch in world.status()], [("done", 20)])
        self.assertEqual(world.number("SELECT count(*) FROM ferry.entry"), 20)

    def test_newer_schema(self):
        """Tables that a newer version has changed are refused by every command."""
        world = self.world
        world.sql("INSERT INTO ferry.migration (name) VALUES ('of a later version')")
        for words in (["work", world.url, "--state", world.root / "state"], ["fleet", "status", world.url],
                      ["fleet", "init", world.url]):
            done = self.attempt(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("from a newer version of ferry", done.stderr)

    def test_emptied_parts(self):
        """Parts whose files are all complete are emptied, one with a failure and one that somebody reads are not."""
        world = self.world
        self.add("parts", 2000, "--part-rows", "500", gone=1)
        self.assertEqual(self.work(), 4)
        end = self.reader("SELECT count(*) FROM ferry.entry WHERE batch = 1 AND number = 600")

        def rows():
            world.sql("UPDATE ferry.upkeep SET tidied = now() - interval '1 hour'")
            world.sql("SELECT ferry.tidy()")
            return world.sql("SELECT (number - 1) / 500, count(*) FROM ferry.entry GROUP BY 1 ORDER BY 1")

        self.assertEqual(rows(), [["1", "500"], ["3", "500"]])
        end()
        self.assertEqual(rows(), [["3", "500"]])

    def test_compilation(self):
        """No statement of Ferry's sessions is compiled, however expensive the database takes it for."""
        world = self.world
        for name in ("jit_above_cost", "jit_inline_above_cost", "jit_optimize_above_cost"):
            world.sql(f"ALTER SYSTEM SET {name} = 0")
        world.sql("SELECT pg_reload_conf()")
        self.add("compiled", 1000)
        self.assertEqual(self.work(), 0)
        compiled = "SELECT sum(jit_functions) FROM pg_stat_statements WHERE query ~ 'ferry[.]'"
        world.sql("SELECT pg_stat_statements_reset()")
        world.ferry("fleet", "status", world.url)
        self.assertEqual(world.number(compiled), 0)
        world.sql("SELECT * FROM ferry.progress")
        if world.sql("SELECT pg_jit_available()") == [["t"]]:
            self.assertGreater(world.number(compiled), 0)

    def test_failures_index(self):
        """Failures are found by their index."""
        world = self.world
        self.add("failures", 1000, gone=3)
        self.assertEqual(self.work(), 4)
        plan = "\n".join(row[0] for row in world.sql(
            "SET enable_seqscan = off; EXPLAIN SELECT line FROM ferry.result"
            " WHERE batch = 1 AND number > 0 AND (NOT true OR status <> 'ok') ORDER BY number LIMIT 2000"))
        self.assertRegex(plan, r"Index .*result_1_0_batch_number_idx")

    def test_state(self):
        """What a batch has come to, why files have failed, and who works."""
        world = self.world
        self.add("first", 1600, gone=5)
        self.assertEqual(self.work("--allow-failures"), 0)
        self.assertEqual(world.ferry("fleet", "workers", world.url).splitlines(), ["WORKER  STATE  SILENT  LEASES"])
        batch = world.status()[0]
        self.assertEqual((batch["state"], batch["completed"], batch["failed"]), ("done", 1595, 5))
        self.assertEqual(batch["failures"], [{"reason": "refused", "httpStatus": 404, "files": 5}])
        self.assertGreater(batch["rowsPerSecond"], 0)
        self.assertIn("first: 5 failed: refused 404", world.ferry("fleet", "status", world.url))
        # A range that has not ended: its failures are left.
        world.sql("INSERT INTO ferry.worker (key, name, seen, until) VALUES"
                  " ('k', 'other', now() - interval '90 seconds', now() + interval '1 hour'),"
                  " ('g', 'gone', now() - interval '2 hours', now() - interval '1 hour')")
        world.sql("DELETE FROM ferry.done WHERE first = 1501")
        world.sql("INSERT INTO ferry.lease (batch, first, worker) SELECT 1, 1501, id FROM ferry.worker WHERE key = 'k'")
        done = self.attempt("fleet", "retry", world.url, "--only", "404")
        self.assertEqual(done.returncode, 0)
        self.assertIn("0 files are requested again", done.stderr)
        self.assertIn("5 more have failed in ranges that have not ended", done.stderr)
        workers = [json.loads(line) for line in world.ferry("fleet", "workers", world.url, "--json").splitlines()]
        self.assertEqual([(worker["name"], worker["holdsLeases"], worker["leases"]) for worker in workers],
                         [("other", True, 1), ("gone", False, 0)])
        self.assertTrue(90 <= workers[0]["secondsSilent"] < 150, workers)

    def test_time_left(self):
        """The rate is that of the last two minutes, whichever lease the rows are of; without an end there is no time left."""
        world = self.world
        self.add("tail", 1000)
        me = world.number("SELECT ferry.join('key', 'name')")
        world.sql(f"SELECT ferry.beat({me}, '1 hour')")
        world.sql(f"SELECT ferry.claim({me})")
        world.sql(f"SELECT ferry.claim({me})")

        def end(first, last, seconds):
            world.sql(f"INSERT INTO ferry.result (batch, number, lease, at, status, line) SELECT l.batch, g, l.number,"
                      f" now() - interval '{seconds} seconds', 'ok', '{{}}' FROM generate_series({first}, {last}) g"
                      f" JOIN ferry.lease l ON g BETWEEN l.first AND l.first + 499")

        def figures():
            batch = world.status()[0]
            self.assertEqual(batch["state"], "open")
            return batch.get("rowsPerSecond"), batch.get("secondsLeft")

        self.assertEqual(figures(), (None, None))
        # Before two minutes have passed: a hundred rows since the first one.
        end(1, 1, 50)
        end(2, 101, 10)
        rate, left = figures()
        self.assertAlmostEqual(rate, 100 / 50, delta=0.3)
        self.assertAlmostEqual(left, 899 / rate, delta=1)
        # Many rows have ended at once, and nothing since.
        world.sql("UPDATE ferry.result SET at = now() - interval '5 minutes'")
        end(102, 500, 300)
        end(501, 980, 115)
        world.sql(f"SELECT ferry.finish({me}, number) FROM ferry.lease WHERE first = 1")
        world.sql("UPDATE ferry.done SET at = now() - interval '4 minutes'")
        rate, left = figures()
        self.assertAlmostEqual(rate, 479 / 120, delta=0.1)
        self.assertTrue(115 <= left < 150, left)
        world.sql("UPDATE ferry.result SET at = now() - interval '3 minutes' WHERE number > 500")
        self.assertEqual(figures(), (None, None))
        # The last rows end slowly, also after their lease is done.
        end(981, 991, 30)
        rate, left = figures()
        self.assertAlmostEqual(rate, 10 / 120, delta=0.01)
        self.assertAlmostEqual(left, 9 / rate, delta=1)
        end(992, 1000, 20)
        world.sql(f"SELECT ferry.finish({me}, number) FROM ferry.lease")
        batch = world.status()[0]
        self.assertEqual((batch["state"], batch["completed"], batch.get("secondsLeft")), ("done", 1000, None))
        self.assertAlmostEqual(batch["rowsPerSecond"], 19 / 120, delta=0.01)

    def test_bounds(self):
        """A worker with another directory prints why its rows fail; the results name them, and they can be requested again."""
        world = self.world
        self.add("bounds", 600)
        self.assertEqual(self.work("--into", world.root / "elsewhere"), 2)
        log = (world.root / "worker0.log").read_text()
        self.assertIn("/data is not below the directory or prefix that ferry work may use: give it --into", log)
        results = [json.loads(line) for line in world.ferry("fleet", "results", world.url).splitlines()]
        self.assertEqual({result["reason"] for result in results}, {"invalidRequest"})
        self.assertEqual([result["url"] for result in results], (world.root / "bounds.txt").read_text().split())
        self.assertEqual(results[0]["path"], f"{world.root}/data/bounds/0/0/1-0")
        world.ferry("fleet", "retry", world.url, "--only", "invalidRequest")
        self.assertEqual(self.work(), 0)
        self.assertEqual(world.status()[0]["completed"], 600)

    def test_stopped_worker(self):
        """A worker that is stopped without a lease is no longer listed; one with a lease keeps it."""
        world = self.world

        def workers():
            lines = world.ferry("fleet", "workers", world.url, "--json").splitlines()
            return [(worker["name"], worker["holdsLeases"], worker["leases"]) for worker in map(json.loads, lines)]

        def stop():
            process = world.processes.pop(0)
            process.terminate()
            process.wait(timeout=60)

        world.work(0, *OPTIONS, until_done=False)
        eventually("a heartbeat", lambda: workers() == [("w0", True, 0)])
        stop()
        self.assertEqual(workers(), [])
        world.sql("INSERT INTO ferry.host (name, rate) VALUES ('*', 1)")
        self.add("slow", 500)
        world.work(0, *OPTIONS, until_done=False)
        eventually("a lease", lambda: workers() == [("w0", True, 1)])
        stop()
        self.assertEqual(workers(), [("w0", True, 1)])

    def test_priorities(self):
        """Rows of higher priority are leased first; batches that are done for long enough are removed, no others."""
        world = self.world
        for name, *options in (("low", "--priority", "-5"), ("usual",), ("high", "--priority", "5"), ("late",)):
            self.add(name, 500, *options)
        world.ferry("fleet", "priority", world.url, "--batch", "late", "--to", "9")
        self.assertEqual(self.attempt("fleet", "priority", world.url, "--batch", "none", "--to", "-9").returncode, 2)
        me = world.number("SELECT ferry.join('key', 'name')")
        world.sql(f"SELECT ferry.beat({me}, '1 minute')")
        leased = []
        for _ in range(4):
            number = world.number(f"SELECT ferry.claim({me})")
            leased += world.sql(
                f"SELECT b.name FROM ferry.lease l JOIN ferry.batch b ON b.id = l.batch WHERE l.number = {number}")[0]
        self.assertEqual(leased, ["late", "high", "usual", "low"])
        world.sql(f"SELECT ferry.leave({me})")
        self.assertEqual(self.work(), 0)
        world.sql("UPDATE ferry.done SET at = now() - interval '3 days' WHERE batch <= 2")
        world.sql("UPDATE ferry.batch SET total = 501 WHERE name = 'usual'")
        world.ferry("fleet", "remove", world.url, "--done-for", "2d")
        self.assertEqual([batch["name"] for batch in world.status()], ["usual", "high", "late"])

    def test_done_while_paused(self):
        """A batch whose rows have all ended is done and can be removed, although it is paused or drained."""
        world = self.world
        for name in ("paused", "drained"):
            self.add(name, 600)
        self.assertEqual(self.work(), 0)
        world.ferry("fleet", "pause", world.url, "--batch", "paused")
        world.ferry("fleet", "drain", world.url, "--batch", "drained")
        self.assertEqual([batch["state"] for batch in world.status()], ["done", "done"])
        # A worker does not wait for them.
        self.assertEqual(self.work(), 0)
        world.ferry("fleet", "remove", world.url, "--done-for", "0s")
        self.assertEqual(world.status(), [])

    def test_pause(self):
        """A pause acts at once, not at the next heartbeat."""
        world = self.world
        world.sql("INSERT INTO ferry.host (name, rate) VALUES ('*', 5)")
        self.add("paused", 2000)
        world.work(0, "-j", "4", "--lease", "15m", until_done=False)
        eventually("a file is complete", lambda: world.status()[0]["completed"] > 0)

        def seen():
            return world.sql("SELECT seen FROM ferry.worker WHERE name = 'w0'")[0][0]

        def beat(last):
            """The time of the first heartbeat after the last one."""
            eventually("a heartbeat", lambda: seen() != last)
            return seen()

        # The next heartbeat would be due ten seconds after this one, but for the notification.
        first = beat(seen())
        begun = world.sql("SELECT clock_timestamp()")[0][0]
        world.ferry("fleet", "pause", world.url)
        second = beat(first)
        self.assertEqual(world.sql(f"SELECT timestamptz '{second}' - '{begun}' < interval '8 seconds'"), [["t"]])
        # What ran then has ended by the next one; otherwise five files a second would end before the one after that.
        third = beat(second)
        count = world.number("SELECT count(*) FROM ferry.result")
        beat(third)
        self.assertEqual(world.number("SELECT count(*) FROM ferry.result"), count)

    def test_tables(self):
        """The documentation has every table and view with its columns."""
        documented = {}
        for names, columns in re.findall(r"^\| (`ferry\..*?`) \| (`.*?`) \|", DOCUMENT.read_text(), re.M):
            for name, part in zip(re.findall(r"`ferry\.(\w+)`", names), columns.split(";"), strict=True):
                documented[name] = set(re.findall(r"`(\w+)`", part))
        found = self.world.sql("SELECT table_name, string_agg(column_name, ' ') FROM information_schema.columns"
                               " WHERE table_schema = 'ferry' GROUP BY 1")
        self.assertEqual(documented, {name: set(columns.split(" ")) for name, columns in found})

    def test_roles(self):
        """The roles of the documentation: a worker that owns nothing works and can write no list; a reader reads."""
        world = self.world
        grants = next(block for block in re.findall(r"```sql\n(.*?)```", DOCUMENT.read_text(), re.S) if "GRANT" in block)
        world.sql(grants)
        world.sql("INSERT INTO ferry.host (name, rate, connections) VALUES ('h1.test', 100, 4)")
        self.add("roles", 1200, "--part-rows", "500", gone=2)
        as_worker = world.url.replace("ferry@", "ferry_worker@")
        as_reader = world.url.replace("ferry@", "ferry_reader@")
        self.assertEqual(self.work("--allow-failures", url=as_worker), 0)
        world.sql("UPDATE ferry.upkeep SET tidied = now() - interval '1 hour'")
        self.add("more", 700)
        self.assertEqual(self.work("--allow-failures", url=as_worker), 0)
        text = self.attempt("fleet", "status", as_reader, "--json")
        self.assertEqual((text.returncode, text.stderr), (0, ""))
        self.assertEqual([json.loads(line)["state"] for line in text.stdout.splitlines()], ["done", "done"])
        self.assertEqual(self.attempt("fleet", "workers", as_reader).returncode, 0)
        self.assertEqual(len(self.attempt("fleet", "results", as_reader, "--failed").stdout.splitlines()), 2)
        for words in (["retry"], ["remove", "--batch", "roles"], ["pause"], ["host", "h", "--rate", "1"]):
            for url in (as_worker, as_reader):
                done = self.attempt("fleet", words[0], url, *words[1:])
                self.assertNotEqual(done.returncode, 0, words)
                self.assertIn("permission denied", done.stderr)
        statements = ["INSERT INTO ferry.entry VALUES (1, 1, 'http://h/')", "DELETE FROM ferry.result",
                      "UPDATE ferry.batch SET directory = '/etc'", "SELECT ferry.add_part(1, 9, 500)"]
        for role, more in (("ferry_worker", []), ("ferry_reader", ["SELECT ferry.claim(1)", "SELECT ferry.tidy()"])):
            for statement in statements + more:
                done = subprocess.run(
                    ["psql", "-h", f"{NET}.1", "-p", str(DATABASE_PORT), "-U", role, "-X", "-c", statement, "postgres"],
                    capture_output=True, text=True)
                self.assertIn("permission denied", done.stderr, (role, statement))


if __name__ == "__main__":
    unittest.main()
