"""A site with downloads: a page with a session, links that expire, a form. Keeps what it was asked for."""

import hashlib
import http.server
import threading
import urllib.parse


def content(name, size):
    """What a file of that name holds."""
    block = b"".join(hashlib.sha256(f"{name} {index}".encode()).digest() for index in range(2048))
    return (block * (size // len(block) + 1))[:size]


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A browser that cancels a download resets its connection."""


class Site:
    """`page` is the HTML of `/page`; `keys` are those with which links are valid. The body of a file stops after `held`
    bytes until `gate` is opened; then its connection is closed if `breaks` says so. The first answers below `/file/` wait for
    each other until there are as many as `together` says. A link below `/once/` is good for one request, `/basic/` wants `me:sesame`."""

    def __init__(self):
        self.asked = []
        self.page = ""
        self.keys = {"first"}
        self.held, self.breaks = None, False
        self.gate = threading.Event()
        self.meeting, self.together = threading.Condition(), 0
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                site.answer(self)

            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", "0")))
                site.answer(self)

            def log_message(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()

    def reset(self, page=""):
        self.gate.set()
        self.asked.clear()
        self.gate.clear()
        self.page, self.keys, self.held, self.breaks, self.together = page, {"first"}, None, False, 0

    def requests(self, path):
        return [one for one in self.asked if one["path"] == path]

    def answer(self, handler):
        parts = urllib.parse.urlsplit(handler.path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.asked.append({"method": handler.command, "path": parts.path, "query": query, **headers})
        if parts.path.startswith("/page"):
            return self.send(handler, 200, self.page.encode(), {
                "Content-Type": "text/html; charset=utf-8", "Set-Cookie": "session=canary-7; HttpOnly; SameSite=Lax"})
        if parts.path.startswith("/go/"):
            return self.send(handler, 302, b"", {"Location": "/file/" + parts.path[4:] + "?" + parts.query})
        if parts.path == "/away":
            return self.send(handler, 302, b"", {"Location": query["to"]})
        if parts.path.startswith("/once/") and len(self.requests(parts.path)) > 1:
            return self.send(handler, 403, b"this link has been used", {})
        if parts.path.startswith("/basic/") and headers.get("authorization") != "Basic bWU6c2VzYW1l":
            return self.send(handler, 401, b"who is it?", {"WWW-Authenticate": 'Basic realm="files"'})
        if parts.path.startswith(("/once/", "/basic/")):
            return self.send_file(handler, headers, query, parts.path.split("/")[-1])
        if not parts.path.startswith("/file/"):
            return self.send(handler, 404, b"nothing here", {})
        with self.meeting:
            self.together -= 1
            self.meeting.notify_all()
            self.meeting.wait_for(lambda: self.together <= 0, 60)
        if "session=canary-7" not in headers.get("cookie", ""):
            return self.send(handler, 403, b"sign in first", {})
        if query.get("key", "first") not in self.keys:
            return self.send(handler, 403, b"this link has expired", {})
        self.send_file(handler, headers, query, parts.path.split("/")[-1])

    def send_file(self, handler, headers, query, name):
        size = int(query.get("size", "2000000"))
        body, tag = content(name, size), f'"{name}-{size}"'
        fields = {
            "Content-Type": "application/octet-stream", "Content-Disposition": f'attachment; filename="{name}"',
            "ETag": tag, "Accept-Ranges": "bytes"}
        if "unnamed" in query:
            del fields["Content-Disposition"]
        span = headers.get("range", "").removeprefix("bytes=")
        if span and headers.get("if-range", tag) == tag:
            first, last = span.split("-")
            first, last = int(first), min(int(last or size - 1), size - 1)
            fields["Content-Range"] = f"bytes {first}-{last}/{size}"
            return self.send(handler, 206, body[first:last + 1], fields)
        self.send(handler, 200, body, fields)

    def send(self, handler, status, body, fields):
        handler.send_response(status)
        for name, value in {**fields, "Content-Length": str(len(body))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        held = self.held
        try:
            if held is not None and len(body) > held:
                handler.wfile.write(body[:held])
                handler.wfile.flush()
                self.gate.wait(300)
                body = b"" if self.breaks else body[held:]
                handler.close_connection = self.breaks
            handler.wfile.write(body)
        except OSError:
            handler.close_connection = True
