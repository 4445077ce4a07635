"""An origin of real files that sends slowly, answers ranges, and remembers them."""

import http.server
import threading
import time


class SlowOrigin:
    """Each connection sends `rate` bytes per second. `asked` has the path and first byte of each request."""

    def __init__(self, rate):
        self.files = {}
        self.asked = asked = []
        files = self.files

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                data = files[self.path]
                first, end, status = 0, len(data), 200
                wanted = self.headers.get("Range", "")
                if wanted.startswith("bytes=") and self.headers.get("If-Range", '"1"') == '"1"':
                    start, _, last = wanted[6:].partition("-")
                    first, status = int(start), 206
                    end = min(end, int(last) + 1) if last else end
                asked.append((self.path, first))
                self.send_response(status)
                if status == 206:
                    self.send_header("Content-Range", f"bytes {first}-{end - 1}/{len(data)}")
                self.send_header("Content-Length", str(end - first))
                self.send_header("ETag", '"1"')
                self.end_headers()
                step = rate // 20
                try:
                    for offset in range(first, end, step):
                        self.wfile.write(data[offset:min(end, offset + step)])
                        time.sleep(0.05)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def serve(self, name, data):
        self.files["/" + name] = data
        return f"http://127.0.0.1:{self.server.server_port}/{name}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
