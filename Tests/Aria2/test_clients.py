"""Clients for aria2 from PyPI, as they are, with Ferry in place of aria2c."""

import asyncio
import os
import select
import subprocess
import unittest
import xmlrpc.client

import aria2p
from aioaria2 import Aria2HttpClient, Aria2WebsocketClient
from servers import PATIENCE, Daemon, Origin, end

SECRET = "a token"
SIZE = 5_000_000


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.origin = Origin()
        cls.daemon = Daemon("--aria2-rpc", "0", "--aria2-secret", SECRET)
        cls.url = f"http://127.0.0.1:{cls.daemon.aria2_port}"

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()
        cls.origin.stop()

    def tearDown(self):
        self.daemon.settle()

    def slow(self, name):
        """A file that takes longer than a test."""
        return self.origin.file(50_000_000, name, "rate=100k")

    def expect_file(self, name, size=SIZE):
        self.assertEqual((self.daemon.downloads / name).stat().st_size, size)


class Aria2p(Clients):
    def setUp(self):
        self.api = aria2p.API(aria2p.Client(host="http://127.0.0.1", port=self.daemon.aria2_port, secret=SECRET))

    def reach(self, download, status):
        while download.status != status:
            self.assertNotEqual(download.status, "error", download.error_message)
            download.update()

    def run_command(self, *words):
        command = [os.environ["ARIA2P"], "-p", str(self.daemon.aria2_port), "-s", SECRET, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=self.daemon.environment)

    def test_a_download_from_its_addition_to_its_removal(self):
        download = self.api.add_uris([self.origin.file(SIZE, "a.bin")], options={"out": "b.bin", "split": "4"})
        self.reach(download, "complete")
        self.expect_file("b.bin")
        self.assertEqual(download.name, "b.bin")
        self.assertEqual(download.total_length, SIZE)
        self.assertEqual(download.progress, 100)
        self.assertTrue(download.is_complete)
        self.assertEqual(download.options.split, 4)
        self.assertTrue(self.api.purge())
        self.assertEqual(self.api.get_downloads(), [])
        self.expect_file("b.bin")

    def test_actions_on_a_running_download(self):
        download = self.api.add_uris([self.slow("a.bin")])
        self.reach(download, "active")
        self.assertTrue(self.api.pause([download])[0])
        self.reach(download, "paused")
        self.assertTrue(self.api.set_options({"max-download-limit": "50K"}, [download])[0])
        self.assertEqual(self.api.get_options([download])[0].max_download_limit, 51200)
        self.assertTrue(self.api.resume([download])[0])
        self.reach(download, "active")
        self.assertEqual(self.api.get_stats().num_active, 1)
        self.assertTrue(self.api.remove([download], force=True)[0])
        self.assertEqual(self.api.get_downloads(), [])

    def test_the_order_of_the_queue(self):
        added = [self.api.add_uris([self.slow(name)], options={"pause": "true"}) for name in ("a", "b", "c")]
        self.assertEqual(self.api.move_to_top(added[2]), 0)
        self.assertEqual([one.gid for one in self.api.get_downloads()], [added[index].gid for index in (2, 0, 1)])
        self.assertTrue(self.api.remove_all(force=True))

    def test_a_wrong_token(self):
        client = aria2p.Client(host="http://127.0.0.1", port=self.daemon.aria2_port, secret="wrong")
        with self.assertRaisesRegex(aria2p.ClientException, "Unauthorized"):
            client.get_version()

    def test_its_commands(self):
        added = self.run_command("add", self.slow("a.bin"))
        self.assertEqual(added.returncode, 0, added.stderr)
        gid = added.stdout.split()[-1]
        shown = self.run_command("show")
        self.assertIn(gid, shown.stdout)
        self.assertIn("a.bin", shown.stdout)
        for words in (("pause", gid), ("resume", "-a"), ("pause", "-a"), ("call", "getVersion"), ("remove", gid), ("purge",)):
            done = self.run_command(*words)
            self.assertEqual(done.returncode, 0, (words, done.stderr))
        self.assertEqual(self.daemon.items(), [])

    def test_it_listens_to_notifications(self):
        callbacks = self.daemon.folder / "callbacks.py"
        callbacks.write_text(
            "def on_download_start(api, gid): print('start', gid, flush=True)\n"
            "def on_download_complete(api, gid): print('complete', gid, flush=True)\n")
        listener = subprocess.Popen(
            [os.environ["ARIA2P"], "-p", str(self.daemon.aria2_port), "-s", SECRET, "listen", "-c", str(callbacks), "-t", "1"],
            stdout=subprocess.PIPE, env=self.daemon.environment)
        try:
            # It says nothing when it listens: what is notified tells.
            seen = b""
            while b"start" not in seen or b"complete" not in seen:
                download = self.api.add_uris([self.origin.file(SIZE, "a.bin")])
                self.reach(download, "complete")
                while select.select([listener.stdout], [], [], 0)[0]:
                    seen += os.read(listener.stdout.fileno(), 65536)
        finally:
            end(listener)
            listener.stdout.close()


class AioAria2(Clients):
    def test_http(self):
        async def body():
            async with Aria2HttpClient(self.url + "/jsonrpc", token=SECRET) as client:
                self.assertIn("version", await client.getVersion())
                gid = await client.addUri([self.origin.file(SIZE, "a.bin")])
                while (await client.tellStatus(gid, ["status"]))["status"] != "complete":
                    pass
                self.assertEqual((await client.getFiles(gid))[0]["length"], str(SIZE))
                self.assertEqual(await client.purgeDownloadResult(), "OK")
        asyncio.run(body())
        self.expect_file("a.bin")

    def test_websocket(self):
        async def body():
            client = await Aria2WebsocketClient.new(self.url + "/jsonrpc", token=SECRET)
            ended = asyncio.get_running_loop().create_future()

            @client.onDownloadComplete
            async def complete(_, data):
                ended.set_result(data["params"][0]["gid"])

            gid = await client.addUri([self.origin.file(SIZE, "a.bin")])
            self.assertEqual(await asyncio.wait_for(ended, PATIENCE), gid)
            results = await client.multicall([
                {"methodName": "aria2.tellStatus", "params": [gid, ["status"]]},
                {"methodName": "aria2.pause", "params": [gid]}])
            self.assertEqual(results, [
                [{"status": "complete"}], {"code": 1, "message": f"GID#{gid} cannot be paused now"}])
            await client.close()
        asyncio.run(body())


class XMLRPC(Clients):
    def setUp(self):
        self.server = xmlrpc.client.ServerProxy(self.url + "/rpc")
        self.token = "token:" + SECRET

    def tearDown(self):
        self.server("close")()
        super().tearDown()

    def test_a_download(self):
        options = {"out": "ü & <b>.bin", "header": ["Accept: */*", "X-A: b"], "pause": "true"}
        gid = self.server.aria2.addUri(self.token, [self.origin.file(SIZE, "a.bin")], options, 0)
        self.assertEqual(self.server.aria2.tellStatus(self.token, gid, ["status"]), {"status": "paused"})
        self.assertEqual(self.server.aria2.changePosition(self.token, gid, 0, "POS_END"), 0)
        self.assertEqual(self.server.aria2.unpause(self.token, gid), gid)
        while self.server.aria2.tellStatus(self.token, gid)["status"] != "complete":
            pass
        self.assertEqual(
            self.server.aria2.getFiles(self.token, gid)[0]["path"], str(self.daemon.downloads / "ü & <b>.bin"))
        self.assertEqual([one["gid"] for one in self.server.aria2.tellStopped(self.token, -1, 5)], [gid])

    def test_faults_and_several_calls(self):
        with self.assertRaisesRegex(xmlrpc.client.Fault, "Unauthorized"):
            self.server.aria2.getVersion("token:wrong")
        calls = xmlrpc.client.MultiCall(self.server)
        calls.aria2.getVersion(self.token)
        calls.aria2.tellStatus(self.token, "ffff")
        results = calls()
        self.assertIn("XML-RPC", results[0]["enabledFeatures"])
        with self.assertRaisesRegex(xmlrpc.client.Fault, "GID ffff is not found"):
            results[1]


if __name__ == "__main__":
    unittest.main()
