"""The examples: what Kubernetes requires of the manifests, their commands, run as they are written, and how lists are divided."""

import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest import mock

import yaml
from origin import serve
from world import FERRY, ORIGIN_PORT, World, eventually

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"Job": "batch/v1", "StatefulSet": "apps/v1", "Service": "v1", "PersistentVolumeClaim": "v1"}
# What the cluster sets in the pods of an indexed job.
OF_CLUSTER = {"Job": {"JOB_COMPLETION_INDEX"}, "StatefulSet": set()}


def documents(name):
    return list(yaml.safe_load_all((ROOT / "Examples/fleet" / name).read_text()))


def image():
    """The image's entry point, and the user that its program runs as."""
    text = (ROOT / "Containerfile").read_text()
    entry = json.loads(re.search(r"^ENTRYPOINT (.*)$", text, re.M)[1])
    user = re.search(r"^USER (\w+)$", text, re.M)[1]
    return entry, int(re.search(rf"useradd --uid (\d+) .*\b{user}\b", text)[1])


class Manifests(unittest.TestCase):
    def check_pod(self, kind, pod, others, templates):
        container, = pod["containers"]
        _, user = image()
        self.assertEqual(pod["securityContext"],
                         {"runAsUser": user, "runAsGroup": user, "runAsNonRoot": True, "fsGroup": user})
        self.assertRegex(container["image"], r"^[a-z0-9./-]+:[\w.-]+$")
        volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
        for mount in container["volumeMounts"]:
            self.assertIn(mount["name"], volumes.keys() | templates)
        for volume in volumes.values():
            claim = others["PersistentVolumeClaim"][volume["persistentVolumeClaim"]["claimName"]]
            # Pods of several nodes write to it.
            self.assertEqual(claim["spec"]["accessModes"], ["ReadWriteMany"])
        mounted = [mount["mountPath"] for mount in container["volumeMounts"]]
        words = container.get("command", []) + container["args"]
        for path in re.findall(r"(?<![\w{}/:@])(/[a-z]+)(?=[/\s\"]|$)", " ".join(words)):
            if path not in ("/bin",):
                self.assertIn(path, mounted, words)
        given = {entry["name"] for entry in container.get("env", [])} | OF_CLUSTER[kind]
        self.assertLessEqual(set(re.findall(r"\$\(?\(?([A-Z_]{2,})", " ".join(words))), given)
        for entry in container.get("env", []):
            self.assertRegex(entry["name"], r"^[A-Z_]+$")
            self.assertTrue("value" in entry or entry["valueFrom"]["secretKeyRef"].keys() == {"name", "key"})
        return container

    def check(self, name):
        """Checks a file; its main document."""
        main, *rest = documents(name)
        others = {}
        for document in [main, *rest]:
            self.assertEqual(document["apiVersion"], KINDS[document["kind"]])
            self.assertRegex(document["metadata"]["name"], r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$")
            others.setdefault(document["kind"], {})[document["metadata"]["name"]] = document
        for claim in others.get("PersistentVolumeClaim", {}).values():
            self.assertRegex(claim["spec"]["resources"]["requests"]["storage"], r"^\d+[MGT]i$")
        templates = {claim["metadata"]["name"] for claim in main["spec"].get("volumeClaimTemplates", [])}
        self.check_pod(main["kind"], main["spec"]["template"]["spec"], others, templates)
        return main, others

    def test_job(self):
        job, _ = self.check("indexed-job.yaml")
        spec = job["spec"]
        self.assertEqual((job["kind"], spec["completionMode"]), ("Job", "Indexed"))
        self.assertEqual(spec["template"]["spec"]["restartPolicy"], "Never", "podFailurePolicy needs it")
        self.assertNotIn("backoffLimit", spec)
        names = {container["name"] for container in spec["template"]["spec"]["containers"]}
        for rule in spec["podFailurePolicy"]["rules"]:
            self.assertIn(rule["action"], ("FailJob", "FailIndex", "Ignore", "Count"))
            self.assertEqual(len(rule), 2)
            if codes := rule.get("onExitCodes"):
                self.assertIn(codes["containerName"], names)
                self.assertIn(codes["operator"], ("In", "NotIn"))
                self.assertTrue(codes["values"] and 0 not in codes["values"])
                self.assertEqual(codes["values"], sorted(set(codes["values"])))
            else:
                self.assertEqual(rule["onPodConditions"], [{"type": "DisruptionTarget", "status": "True"}])

    def test_stateful_set(self):
        workers, others = self.check("workers.yaml")
        spec = workers["spec"]
        self.assertEqual((workers["kind"], spec["template"]["spec"]["restartPolicy"]), ("StatefulSet", "Always"))
        self.assertEqual(spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"])
        service = others["Service"][spec["serviceName"]]
        self.assertEqual((service["spec"]["clusterIP"], service["spec"]["selector"]),
                         ("None", spec["selector"]["matchLabels"]))
        self.assertNotIn("--until-done", spec["template"]["spec"]["containers"][0]["args"])

    def test_image(self):
        text = (ROOT / "Containerfile").read_text()
        self.assertRegex(text, r"apt-get install .*\blibpq5\b")
        self.assertRegex((ROOT / "Scripts/package").read_text(), r"\nRecommends: .*\blibpq5\b")


def moved(words, folder):
    """The words of a container with its volumes below a folder."""
    return [re.sub(r"(?<![\w{}/:@])/(data|state)\b", rf"{folder}/\1", word) for word in words]


class Commands(unittest.TestCase):
    def test_job(self):
        """Each pod of the job takes its part, a dead link fails none, and one that is started again has nothing to do."""
        job = documents("indexed-job.yaml")[0]
        container = job["spec"]["template"]["spec"]["containers"][0]
        port = serve(self)
        hosts = ["127.0.0.1", "localhost", "127.0.0.2", "127.0.0.3", "127.0.0.4"]
        for address in hosts[2:]:
            serve(self, address, port)
        with TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            data.mkdir()
            lines = [f"http://{hosts[index % 5]}:{port}/f/{index}.txt" for index in range(60)]
            lines.append(f"http://localhost:{port}/gone/1")
            (data / "urls.txt").write_text("".join(line + "\n" for line in lines))
            program = Path(folder) / "bin"
            program.mkdir()
            (program / "ferry").symlink_to(FERRY)
            for again in (False, True):
                found = []
                for index in range(job["spec"]["completions"]):
                    environment = {"PATH": f"{program}:/usr/bin:/bin", "HOME": folder, "JOB_COMPLETION_INDEX": str(index)}
                    done = subprocess.run(
                        moved(container["command"] + container["args"], folder), env=environment, cwd=folder,
                        capture_output=True, text=True, timeout=120)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    results = data / f"results-{index}.jsonl"
                    if results.exists():
                        found += [json.loads(line) for line in results.read_text().splitlines() if '"status"' in line]
                self.assertEqual(sorted(line["url"] for line in found), sorted(lines), f"again: {again}")
            self.assertEqual([line["httpStatus"] for line in found if line["status"] != "ok"], [404])
            for line in found:
                if line["status"] == "ok":
                    self.assertEqual(Path(line["path"]).read_text(), line["url"].removeprefix("http://"))
                    self.assertTrue(Path(line["path"]).is_relative_to(data / "files"))

    def test_workers(self):
        """The command of the stateful set works until it is stopped, and says so by its exit code."""
        container = documents("workers.yaml")[0]["spec"]["template"]["spec"]["containers"][0]
        world = World(1, 4)
        self.addCleanup(world.stop)
        world.start()
        # The mounted volumes, which are not the user's alone.
        for name in ("data", "state"):
            (world.root / name).mkdir()
            (world.root / name).chmod(0o2775)
        (world.root / "urls.txt").write_text(
            "".join(f"http://h{index % 4}.test:{ORIGIN_PORT}/f/{index}\n" for index in range(300)))
        world.ferry("fleet", "init", world.url)
        world.ferry("fleet", "add", world.url, world.root / "urls.txt", "--into", world.root / "data")
        words = [world.url if word.startswith("postgres://") else word for word in moved(container["args"], world.root)]
        environment = {**os.environ, **{entry["name"]: "secret" for entry in container["env"]}}
        world.processes[0] = subprocess.Popen(
            ["ip", "netns", "exec", world.namespace(0), FERRY, *words, "--allow-private"], env=environment, cwd=world.root)
        eventually("all is fetched", lambda: world.status()[0]["state"] == "done", seconds=120)
        self.assertEqual(world.status()[0]["completed"], 300)
        world.processes[0].terminate()
        self.assertEqual(world.processes[0].wait(timeout=60), 143)


def example(name, **modules):
    """The module of an example, with these modules in place of those that it imports."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "Examples/fleet" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, modules):
        spec.loader.exec_module(module)
    return module


class Lists(unittest.TestCase):
    def test_ray(self):
        """An entry's options stay with its URL, in whichever task it is."""
        ray = example("ray_fetch", ray=SimpleNamespace(remote=lambda **_: lambda function: function))
        port = serve(self)
        urls = [f"http://{host}:{port}/f/{index}" for index in range(3) for host in ("127.0.0.1", "localhost")]
        digests = [hashlib.sha256(url.removeprefix("http://").encode()).hexdigest() for url in urls]
        lines = ["# a list", "", urls[0], f"  checksum=sha-256={digests[0]}", urls[1], f"\tchecksum=sha-256={digests[0]}",
                 json.dumps({"id": 7, "url": urls[2], "checksum": f"sha-256={digests[2]}"}), "  # of the next", urls[3],
                 f"  {urls[4]}", urls[5]]
        groups = ray.by_host(ray.entries_of(line + "\n" for line in lines), 16)
        self.assertEqual([len(group) for group in groups], [3, 3])
        with TemporaryDirectory() as folder:
            results = [result for group in groups for result in ray.fetch(group, folder)]
        self.assertEqual(sorted(result["url"] for result in results), sorted(urls))
        self.assertEqual({result["url"]: result["reason"] for result in results if result["status"] != "ok"},
                         {urls[1]: "checksum"})
        self.assertEqual({result["url"] for result in results if "digest" in result}, {urls[0], urls[2]})

    def test_spark(self):
        """Each line is an entry of its own, or the list is refused."""
        spark = example("spark_fetch", **{"pyspark": SimpleNamespace(), "pyspark.sql": SimpleNamespace(SparkSession=None)})
        for line in ("http://h.test/a http://m.test/a", "  https://h.test/a", '{"id": 1, "url": "http://h.test/a"}',
                     '{"urls": ["http://h.test/a", "http://m.test/a"]}'):
            self.assertEqual(spark.host(line), "h.test")
        with self.assertRaisesRegex(ValueError, "one line of JSON"):
            spark.host("  checksum=md5=0")


if __name__ == "__main__":
    unittest.main()
