"""Prometheus and promtool, unmodified, with the metrics of a daemon that has downloaded."""

import http.client
import json
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

from servers import PATIENCE, Daemon, Origin, SocketConnection, end

ROOT = Path(__file__).resolve().parents[2]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.origin = Origin()
        cls.daemon = Daemon("--metrics-port", str(cls.port))
        cls.token_file = cls.daemon.folder / "state" / "metrics-token"
        for url in (cls.origin.file("3MB", "good.bin"), cls.origin.file("1MB", "bad.bin", "status=451")):
            cls.daemon.add(url)
        until = time.monotonic() + PATIENCE
        while {item["state"] for item in cls.daemon.items()} - {"completed", "failed"}:
            assert time.monotonic() < until, cls.daemon.items()
            time.sleep(0.05)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()
        cls.origin.stop()

    def text(self):
        connection = SocketConnection(self.daemon.socket)
        try:
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            return answer.read().decode()
        finally:
            connection.close()

    def test_promtool_finds_nothing_to_complain_of(self):
        checked = subprocess.run(["promtool", "check", "metrics"], input=self.text(), capture_output=True, text=True)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))

    def test_other_users_read_them_with_the_token_alone(self):
        def status(headers):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
            try:
                connection.request("GET", "/metrics", headers=headers)
                return connection.getresponse().status
            finally:
                connection.close()

        token = self.token_file.read_text().strip()
        self.assertEqual(self.token_file.stat().st_mode & 0o777, 0o600)
        self.assertEqual(status({"Authorization": f"Bearer {token}"}), 200)
        self.assertEqual(status({}), 401)
        self.assertEqual(status({"Authorization": f"Bearer {token}", "Origin": f"http://127.0.0.1:{self.port}"}), 403)

    def test_prometheus_scrapes_them_and_answers_the_dashboard(self):
        folder = Path(tempfile.mkdtemp(prefix="ferry-prometheus."))
        port = free_port()
        (folder / "token").write_text(self.token_file.read_text())
        (folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "200ms", "scrape_timeout": "200ms"},
            "scrape_configs": [{
                "job_name": "ferry", "authorization": {"credentials_file": str(folder / "token")},
                "static_configs": [{"targets": [f"127.0.0.1:{self.port}"]}]}]}))
        server = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(folder / "log", "ab"), cwd=folder)
        try:
            def query(expression):
                parameters = urllib.parse.urlencode({"query": expression})
                url = f"http://127.0.0.1:{port}/api/v1/query?{parameters}"
                with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                    return json.load(answer)["data"]["result"]

            until = time.monotonic() + PATIENCE
            while True:
                try:
                    # Two samples at least, for rates.
                    samples = query('count_over_time(up{job="ferry"}[1m])')
                    up = query('up{job="ferry"}')
                    if samples and int(samples[0]["value"][1]) >= 5 and up[0]["value"][1] == "1":
                        break
                except OSError:
                    self.assertIsNone(server.poll(), (folder / "log").read_text())
                self.assertLess(time.monotonic(), until, (folder / "log").read_text())
                time.sleep(0.1)
            board = json.loads((ROOT / "Examples" / "grafana" / "ferry.json").read_text())
            silent = []
            for panel in board["panels"]:
                for target in panel["targets"]:
                    expression = target["expr"].replace("$job", "ferry").replace("$instance", ".*")
                    result = query(expression.replace("$__rate_interval", "1m"))
                    if not result:
                        silent.append(expression)
            # No connection is open any more, so that no server has a speed; and this daemon is no worker of a fleet, and
            # serves no gateway.
            others = ("ferry_host_", "ferry_fleet_", "ferry_gateway_")
            self.assertEqual([one for one in silent if not any(other in one for other in others)], [])
        finally:
            end(server)
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    unittest.main()
