"""skopeo, as it is, with the gateway before docker-registry."""

import base64
import gzip
import json
import shutil
import subprocess
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from rig import PATIENCE, Case, Gateway, Slow, before, end, free_port, made_bytes, wait_until

REGISTRY = shutil.which("docker-registry")


class TokenService:
    """Gives tokens for a registry to one user, as the registry's challenge asks for them."""

    USER, PASSWORD = "reader", "open-sesame-93"

    def __init__(self, folder):
        self.key, self.certificate = folder / "key.pem", folder / "certificate.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=tokens", "-days", "2", "-keyout",
             str(self.key), "-out", str(self.certificate)], check=True, capture_output=True)
        self.tokens = []
        self.slow = Slow(self.answer)
        self.url = self.slow.url

    def answer(self, handler):
        wanted = "Basic " + base64.b64encode(f"{self.USER}:{self.PASSWORD}".encode()).decode()
        if handler.headers.get("Authorization") != wanted:
            handler.give(401, [("Content-Length", "0")])
            return
        scopes = urllib.parse.parse_qs(urllib.parse.urlsplit(handler.path).query).get("scope", [])
        body = json.dumps({"token": self.token(scopes), "expires_in": 300}).encode()
        handler.give(200, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))], [body])

    def token(self, scopes):
        def packed(data):
            return base64.urlsafe_b64encode(data).rstrip(b"=")

        now = int(time.time())
        access = []
        for scope in scopes:
            kind, name, actions = scope.split(":", 2)
            access.append({"type": kind, "name": name, "actions": actions.split(",")})
        chain = "".join(self.certificate.read_text().splitlines()[1:-1])
        head = {"typ": "JWT", "alg": "RS256", "x5c": [chain]}
        claims = {
            "iss": "tokens", "sub": self.USER, "aud": "registry", "exp": now + 300, "nbf": now - 60, "iat": now,
            "jti": str(len(self.tokens)), "access": access}
        signed = packed(json.dumps(head).encode()) + b"." + packed(json.dumps(claims).encode())
        signature = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", str(self.key)], input=signed, check=True, capture_output=True).stdout
        self.tokens.append((signed + b"." + packed(signature)).decode())
        return self.tokens[-1]

    def close(self):
        self.slow.close()


class Registry:
    """docker-registry in a folder; with a service it asks for tokens."""

    def __init__(self, folder, tokens=None):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        settings = folder / "registry.yml"
        text = f"version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: {folder / 'registry'}\nhttp:\n  addr: 127.0.0.1:{port}\n"
        if tokens:
            text += (
                f"auth:\n  token:\n    realm: {tokens.url}/token\n    service: registry\n    issuer: tokens\n"
                f"    rootcertbundle: {tokens.certificate}\n")
        settings.write_text(text)
        self.process = subprocess.Popen(
            [REGISTRY, "serve", str(settings)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        wait_until(self.answers, "docker-registry")

    def answers(self):
        try:
            urllib.request.urlopen(self.url + "/v2/", timeout=PATIENCE).close()
        except urllib.error.HTTPError:
            pass
        except OSError:
            return False
        return True

    def close(self):
        end(self.process)


@unittest.skipUnless(REGISTRY and shutil.which("skopeo"), "skopeo or docker-registry is not installed")
class Skopeo(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "policy.json").write_text('{"default": [{"type": "insecureAcceptAnything"}]}')

    def skopeo(self, *words, mirror=None):
        """skopeo with the one mirror, if there is one, in its settings."""
        if mirror:
            registries = self.folder / "registries.conf"
            registries.write_text(
                f'[[registry]]\nlocation = "registry.example"\n[[registry.mirror]]\nlocation = "{mirror}"\ninsecure = true\n')
            words = ("--registries-conf", str(registries), *words)
        return self.process(
            ["skopeo", "--policy", str(self.folder / "policy.json"), "--tmpdir", str(self.folder), *words])

    def image(self, layers):
        """An image with these layers, as skopeo reads it from a directory."""
        place = self.folder / "image"
        place.mkdir()
        (place / "version").write_text("Directory Transport Version: 1.1\n")
        config = json.dumps({
            "architecture": "amd64", "os": "linux", "config": {},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{self.digest(data)}" for data in layers]},
            "history": [{"created_by": "x"} for _ in layers]}).encode()
        for data in [*layers, config]:
            (place / self.digest(data)).write_bytes(data)
        (place / "manifest.json").write_text(json.dumps({
            "schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": {
                "mediaType": "application/vnd.docker.container.image.v1+json", "size": len(config),
                "digest": f"sha256:{self.digest(config)}"},
            "layers": [{
                "mediaType": "application/vnd.docker.image.rootfs.diff.tar", "size": len(data),
                "digest": f"sha256:{self.digest(data)}"} for data in layers]}))
        return place

    def same(self, place, layers):
        # skopeo has compressed them when it pushed them.
        manifest = json.loads((Path(place) / "manifest.json").read_text())
        got = [(Path(place) / layer["digest"].removeprefix("sha256:")).read_bytes() for layer in manifest["layers"]]
        self.assertEqual([f"sha256:{self.digest(data)}" for data in got], [layer["digest"] for layer in manifest["layers"]])
        self.assertEqual([gzip.decompress(data) for data in got], layers)

    def pushed(self, layers, tokens=None):
        """A slow way to a registry with the image `library/app`."""
        registry = self.started(Registry(self.folder, tokens))
        host = registry.url.split("/")[2]
        rights = ("--dest-creds", f"{tokens.USER}:{tokens.PASSWORD}") if tokens else ()
        pushed = self.skopeo(
            "copy", "-q", *rights, "--dest-tls-verify=false", f"dir:{self.image(layers)}", f"docker://{host}/library/app:1")
        self.succeeds(pushed)
        return self.started(before(registry.url))

    def test_killed_clients_and_daemons(self):
        layers = [made_bytes(45_000_000, 1), made_bytes(40_000_000, 2)]
        upstream = self.pushed(layers)
        gateway = self.started(Gateway(f"oci={upstream.url}/"))

        def pull():
            shutil.rmtree(self.folder / "got", ignore_errors=True)
            return self.skopeo(
                "copy", "-q", "docker://registry.example/library/app:1", f"dir:{self.folder / 'got'}",
                mirror=f"127.0.0.1:{gateway.gateway_port}")

        self.survives(upstream, gateway, sum(map(len, layers)), pull)
        self.same(self.folder / "got", layers)
        sent = upstream.total()
        self.succeeds(pull())
        self.same(self.folder / "got", layers)
        self.assertLess(upstream.total() - sent, 1 << 20)

    def test_a_registry_with_tokens(self):
        layers = [made_bytes(9_000_000, 4)]
        tokens = self.started(TokenService(self.folder))
        upstream = self.pushed(layers, tokens)
        gateway = self.started(Gateway(f"oci={upstream.url}/"))

        def pull(name, *rights):
            return self.skopeo(
                "copy", "-q", *rights, "docker://registry.example/library/app:1", f"dir:{self.folder / name}",
                mirror=f"127.0.0.1:{gateway.gateway_port}")

        # skopeo has credentials for each mirror, as a user who has logged in there.
        rights = self.folder / "auth.json"
        mirror = f"127.0.0.1:{gateway.gateway_port}"
        login = ["login", "--tls-verify=false", "--authfile", str(rights), "-u", tokens.USER, "-p"]
        self.assertNotEqual(self.skopeo(*login, "wrong", mirror).wait(PATIENCE), 0)
        self.succeeds(self.skopeo(*login, tokens.PASSWORD, mirror))
        for name in ("first", "second"):
            self.succeeds(pull(name, "--src-authfile", str(rights)))
            self.same(self.folder / name, layers)
        # The second came from the cache, although with another token.
        self.assertLess(upstream.total(), 10_000_000)
        self.assertGreaterEqual(len(set(tokens.tokens)), 3)
        # Nobody else gets the bytes.
        self.assertNotEqual(pull("third").wait(PATIENCE), 0)
        manifest = json.loads((self.folder / "first" / "manifest.json").read_text())
        for path in (f"blobs/{manifest['layers'][0]['digest']}", "manifests/1"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"{gateway.url}/v2/library/app/{path}", timeout=PATIENCE)
            self.assertEqual(refused.exception.code, 401)
            self.assertIn(tokens.url, refused.exception.headers["WWW-Authenticate"])
            refused.exception.close()
        # Neither tokens nor the password are on the disk.
        secrets = [token.encode() for token in tokens.tokens] + [tokens.PASSWORD.encode()]
        for file in Path(gateway.folder).rglob("*"):
            if file.is_file():
                data = file.read_bytes()
                self.assertFalse([secret for secret in secrets if secret in data], file)

    def test_forms_of_the_mirror_and_listing(self):
        layers = [made_bytes(100_000, 3)]
        upstream = self.pushed(layers)
        gateway = self.started(Gateway(f"oci={upstream.url}/"))
        for number, mirror in enumerate((f"127.0.0.1:{gateway.gateway_port}", f"127.0.0.1:{gateway.gateway_port}/gw/oci")):
            got = self.folder / f"got{number}"
            pulled = self.skopeo("copy", "-q", "docker://registry.example/library/app:1", f"dir:{got}", mirror=mirror)
            self.succeeds(pulled)
            self.same(got, layers)
        listed = self.skopeo(
            "list-tags", "--tls-verify=false", f"docker://127.0.0.1:{gateway.gateway_port}/library/app")
        self.succeeds(listed)
        # Pull only.
        refused = self.skopeo(
            "copy", "-q", "--dest-tls-verify=false", f"dir:{self.folder / 'image'}",
            f"docker://127.0.0.1:{gateway.gateway_port}/library/other:1")
        self.assertNotEqual(refused.wait(PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
