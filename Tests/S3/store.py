"""A store for the tests: moto with access control on, and before it a gate that can slow, refuse and lose requests."""

import http.client
import http.server
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import boto3
import botocore.config
from servers import PATIENCE, end

REGION = "us-east-1"
BUCKET = "ferry-bucket"


class Store:
    """moto's server. `keys` may do all with objects, `poor` nothing."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        environment = os.environ | {"INITIAL_NO_AUTH_ACTION_COUNT": "1000000", "MOTO_S3_DEFAULT_MAX_KEYS": "10"}
        self.log = open(os.devnull, "wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)],
            env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.url = f"http://127.0.0.1:{self.port}"
        until = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise AssertionError("moto's server does not start") from None
                time.sleep(0.05)
        iam = self.client("iam", ("setup", "setup"))
        self.keys = self.user(iam, "rich")
        iam.put_user_policy(
            UserName="rich", PolicyName="all",
            PolicyDocument='{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}')
        self.poor = self.user(iam, "poor")
        self.client("s3", ("setup", "setup")).create_bucket(Bucket=BUCKET)
        # From here on every request is checked.
        urllib.request.urlopen(urllib.request.Request(
            f"{self.url}/moto-api/reset-auth", b"0", {"Content-Type": "text/plain"}, method="POST")).read()
        self.s3 = self.client("s3", self.keys)

    def client(self, service, keys):
        return boto3.client(
            service, endpoint_url=self.url, region_name=REGION, aws_access_key_id=keys[0], aws_secret_access_key=keys[1],
            config=botocore.config.Config(proxies={}, retries={"max_attempts": 0}))

    def user(self, iam, name):
        iam.create_user(UserName=name)
        made = iam.create_access_key(UserName=name)["AccessKey"]
        return made["AccessKeyId"], made["SecretAccessKey"]

    def objects(self, prefix=""):
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return {item["Key"]: item["Size"] for page in pages for item in page.get("Contents", [])}

    def uploads(self, prefix):
        return self.s3.list_multipart_uploads(Bucket=BUCKET, Prefix=prefix).get("Uploads", [])

    def bytes(self, key):
        return self.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def stop(self):
        end(self.process)
        self.log.close()


class Asked:
    def __init__(self, handler, body):
        self.method, self.target, self.body = handler.command, handler.path, body
        self.headers = {name.lower(): value for name, value in handler.headers.items()}

    def __repr__(self):
        return f"{self.method} {self.target}"


class Gate:
    """A server before the store. `rule(asked)` returns None to pass a request on, or what is done with it: (status, headers,
    body) as the answer, LOST to pass it on and lose the answer, or a number of bytes per second for the answer."""

    LOST = object()

    def __init__(self, store):
        self.asked = []
        self.rule = lambda asked: None
        gate = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self):
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                if len(body) < length:
                    # The sender was killed. Passed on with the length of what came, the rest would be a complete object.
                    self.close_connection = True
                    return
                asked = Asked(self, body)
                gate.asked.append(asked)
                done = gate.rule(asked)
                if isinstance(done, tuple):
                    return self.answer(*done)
                connection = http.client.HTTPConnection("127.0.0.1", store.port, timeout=PATIENCE)
                connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    if name.lower() not in ("connection", "content-length"):
                        connection.putheader(name, value)
                if body or self.command in ("PUT", "POST"):
                    connection.putheader("Content-Length", str(len(body)))
                connection.endheaders(body or None)
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
                if done is Gate.LOST:
                    self.close_connection = True
                    return
                fields = {
                    name: value for name, value in answer.getheaders()
                    if name.lower() not in ("connection", "transfer-encoding", "content-length", "date", "server")}
                length = answer.getheader("Content-Length") if self.command == "HEAD" else None
                self.answer(answer.status, fields, content, rate=done, length=length)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do

            def answer(self, status, fields, content, rate=None, length=None):
                self.send_response(status)
                for name, value in fields.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", length or str(len(content)))
                self.end_headers()
                if self.command == "HEAD":
                    return
                try:
                    step = rate // 20 if rate else max(1, len(content))
                    for offset in range(0, len(content), step):
                        self.wfile.write(content[offset:offset + step])
                        if rate:
                            time.sleep(0.05)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def forget(self):
        self.asked.clear()
        self.rule = lambda asked: None

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
