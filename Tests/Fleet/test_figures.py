"""Figures for docs/fleet.md: 1, 2 and 4 workers, the cost for each address, and the database's own limit."""

import os
import subprocess
import sys
import time
import unittest

from world import DATABASE_PORT, NET, ORIGIN_PORT, POSTGRES, World

FILES = int(os.environ.get("FLEET_FILES", "20000"))
CLAIM = "\\set w random(1, 64)\nSELECT ferry.claim(:w);\n"


@unittest.skipUnless(os.environ.get("FLEET_FIGURES"), "FLEET_FIGURES=1 measures")
class Figures(unittest.TestCase):
    def test_workers(self):
        world = World(4, 200)
        self.addCleanup(world.stop)
        world.start()
        world.ferry("fleet", "init", world.url)
        (world.root / "urls.txt").write_text(
            "".join(f"http://h{index % 200}.test:{ORIGIN_PORT}/f/{index}\n" for index in range(FILES)))
        for count in (1, 2, 4):
            world.ferry("fleet", "add", world.url, world.root / "urls.txt", "--into", world.root / f"data{count}",
                        "--batch", f"b{count}")
            world.sql("SELECT pg_stat_statements_reset()")
            begin = time.monotonic()
            for number in range(count):
                world.work(number, "-j", "64", "--no-fsync")
            for process in world.processes.values():
                process.wait()
            seconds = time.monotonic() - begin
            calls = world.number("SELECT sum(calls) FROM pg_stat_statements WHERE query LIKE '%ferry.%' AND toplevel")
            work = float(world.sql(
                "SELECT sum(total_exec_time) FROM pg_stat_statements WHERE query LIKE '%ferry.%' AND toplevel")[0][0])
            print(f"{count} workers: {FILES / seconds:.0f} files/s, {calls / FILES:.4f} statements and"
                  f" {1000 * work / FILES:.0f} us of the database for each file", file=sys.stderr)
            world.processes.clear()
        sizes = world.sql(
            "SELECT regexp_replace(relname, '_[0-9_]+$', ''), sum(pg_total_relation_size(oid)) FROM pg_class"
            " WHERE relnamespace = 'ferry'::regnamespace AND relkind = 'r' GROUP BY 1 ORDER BY 2 DESC LIMIT 4")
        print({name: round(int(size) / FILES / 3, 1) for name, size in sizes}, "bytes for each file", file=sys.stderr)
        world.sql("INSERT INTO ferry.batch (name, directory, state, total, part_rows)"
                  " VALUES ('limit', '/data', 'open', 1000000000, 1000000000)")
        number = world.number("SELECT id FROM ferry.batch WHERE name = 'limit'")
        world.sql(f"CREATE SEQUENCE ferry.next_{number} INCREMENT 500 MINVALUE 1 START 1")
        world.sql("INSERT INTO ferry.worker (id, key, name, seen, until) OVERRIDING SYSTEM VALUE"
                  " SELECT g, 'limit' || g, 'limit', now(), now() + interval '1 hour' FROM generate_series(1, 64) g"
                  " ON CONFLICT (id) DO UPDATE SET until = excluded.until")
        script = world.root / "claim.sql"
        script.write_text(CLAIM)
        print(subprocess.run(
            [POSTGRES / "pgbench", "-h", f"{NET}.1", "-p", str(DATABASE_PORT), "-U", "ferry", "-n", "-f", script, "-c",
             "8", "-T", "10", "postgres"], capture_output=True, text=True).stdout, file=sys.stderr)
