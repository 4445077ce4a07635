"""The rows of section A: servers."""

from urllib.parse import quote

from peers.contents import MEBIBYTE
from peers.scenario import HALF, HELD, SIZE, Row, Version, Wanted, held, target

OLD, NEW = Version(1), Version(2)
LONGER, SHORTER, AS_HELD = Version(2, 9 * MEBIBYTE), Version(2, 2 * MEBIBYTE), Version(2, HELD)
# Long enough for several connections to pay, where each gets 2 MB/s.
LARGE, OTHER_LARGE = Version(1, 32 * MEBIBYTE), Version(2, 32 * MEBIBYTE)
SMALL = Version(1, 16384)  # The server makes its digest at each request.
STRANGER = Version(9, 3 * MEBIBYTE)
LATER = "lastmod=1710000000"  # A changed file has another date, unless the row says otherwise.
NO_VALIDATOR = ("etag=none", "lastmod=none")
SLOW = ("--connection-rate", "2M")  # So that several connections pay.
SEVERAL = Wanted(several=True)
NAMED = Wanted(server_name=True)
RAW_QUERY = "field=X-Signature:{a}[0]|%"


def changed(name, title, new, *parameters, before=(), **more):
    """The file on the server is another one when the second run comes."""
    return Row(name, title, target(*parameters, version=new), held(*before), right=(new,), known=(OLD,), **more)


def disposition(text):
    return "disposition=" + quote(text, safe="{}")


def bad_range(name, title, text):
    """The body is from 64 KiB too early, and the Content-Range is one that no client may believe."""
    return Row(name, f"206 whose Content-Range {title}", target("shift=-65536", f"badrange={quote(text)}", "ranged"), held())


def escaped(trial):
    found = trial.escaped()
    return f"wrote outside of the directory: {found[0].relative_to(trial.root)}" if found else None


def strange_name(trial):
    for path in trial.place.iterdir():
        if path.name[0] in ".-" or any(ord(letter) < 32 for letter in path.name):
            return f"made a file called {path.name!r}"
    return None


def put_stranger(trial):
    (trial.place / "file.bin").write_bytes(trial.contents.bytes(STRANGER))


def stranger_is_gone(trial):
    path = trial.place / "file.bin"
    if not path.exists() or trial.is_right(path):
        return "the file that was there is gone"
    return None


def copies(trial):
    files = trial.results()
    return f"left {len(files)} files: {', '.join(path.name for path in files)}" if len(files) > 1 else None


def other_query(trial):
    sent = [request["target"] for request in trial.origin.requests()]
    return None if all(RAW_QUERY in target for target in sent) else "sent another query than it was given"


def went_plain(trial):
    return "went on without TLS" if trial.other.requests() else None


def told_secret(trial):
    told = any(
        name.lower() == "authorization" for request in trial.other.requests() for name, _ in request["fields"])
    return "sent Authorization to the other server" if told else None


ROWS = [
    Row("A1", "ignores Range: 200, whole file", target("ranges=ignore"), held()),
    Row("A2", "ignores Range on every second connection", target("norange", "ranged", "every=2", version=LARGE),
        right=(LARGE,), wanted=SEVERAL, server=SLOW),
    Row("A3", "206 that starts 64 KiB after the requested offset, as it says", target("shift=65536", "ranged"), held()),
    changed("A4a", "the file was replaced by a longer one", LONGER, LATER),
    changed("A4b", "the same, and the server does not know If-Range", LONGER, LATER, "anyifrange"),
    Row("A5", "206 that ends early", target("early=1MiB", "ranged"), held()),
    Row("A6", "206 that is longer than requested", target("late=262144", "ranged", version=LARGE), right=(LARGE,),
        wanted=SEVERAL, server=SLOW),
    Row("A7", "206 with the total *", target("total=*", "ranged"), held()),
    Row("A8a", "206 from 0 without Content-Range", target(f"shift=-{HELD}", "badrange=none", "ranged"), held()),
    Row("A8b", "multipart/byteranges for one range", target("byteranges", "ranged"), held()),
    bad_range("A9a", "ends before it starts", f"bytes {HELD}-{HELD - 1}/{SIZE}"),
    bad_range("A9b", "has a total before its end", f"bytes {HELD}-{SIZE - 1}/{HELD}"),
    bad_range("A9c", "has = for a blank", f"bytes={HELD - 65536}-{SIZE - 65537}/{SIZE}"),
    bad_range("A9d", "goes beyond 2^63", f"bytes {HELD}-{10**20}/{10**20 + 1}"),
    bad_range("A9e", "has another unit", f"items {HELD}-{SIZE - 1}/{SIZE}"),
    bad_range("A9f", "has no end", f"bytes {HELD}-/{SIZE}"),
    Row("A10", "206 with half of the file, without a Range request", target(f"part=0-{HALF}")),
    Row("A11a", "the file is complete already", target(), completes_before=True, counts_bytes=True),
    changed("A11b", "the file shrank: 416", SHORTER, LATER),
    Row("A11c", "416 without a length, whose body never ends", target("unsatisfiable=endless", "rate=1M", "ranged"), held()),
    changed("A12a", "replaced by a file as long as the partial file: 416", AS_HELD, LATER),
    changed("A12b", "the same, without ranges: 200", AS_HELD, LATER, "ranges=off"),
    changed("A13a", "replaced by a file of the same length: other ETag and date", NEW, LATER),
    Row("A13b", "a mirror that alternates between two versions", target("version=2", "every=2", version=LARGE),
        right=(LARGE, OTHER_LARGE), wanted=SEVERAL, server=SLOW),
    changed("A14", "the ETag is the same, length and bytes are not", LONGER, "etag=x", LATER, before=["etag=x"]),
    Row("A15a", "no validator, the file is the same", target(*NO_VALIDATOR), held(*NO_VALIDATOR)),
    changed("A15b", "no validator, other bytes", NEW, *NO_VALIDATOR, before=NO_VALIDATOR),
    changed("A15c", "weak ETag, other bytes", NEW, "etag=weak", LATER, before=["etag=weak"]),
    changed("A15d", "Last-Modified is always now, other bytes", NEW, "etag=none", "lastmod=now",
            before=["etag=none", "lastmod=now"]),
    changed("A16", "ETag without quotes, other bytes", NEW, "rawetag=def", LATER, before=["rawetag=abc"]),
    Row("A17", "Content-Encoding on ranges: other bytes than the file's", target("gzip", "corrupt=6000000", "ranged"), held()),
    Row("A18", "Content-Encoding: gzip although it is not", target("gzip")),
    Row("A19", "a login page with 200 in place of the file", target("html"), held()),
    Row("A20", "500 with a body", target("status=500"), held()),
    Row("A21a", "closed in the middle, once", target(f"cut={HALF}", "times=1"), counts_bytes=True),
    Row("A21b", "reset in the middle, once", target(f"reset={HALF}", "times=1"), counts_bytes=True),
    Row("A22", "body longer than Content-Length", target("excess=1000")),
    Row("A23", "Content-Length shorter than Content-Range", target("length=1000000", "ranged"), held()),
    Row("A24a", "Content-Length beside chunks", target("lengthchunked")),
    Row("A24b", "two lengths that differ", target(f"length2={HALF}")),
    Row("A24c", "Content-Length: 6x", target("length=6x")),
    Row("A24d", "Content-Length: -5", target("length=-5")),
    Row("A25", "chunks, truncated once", target("chunked", f"cut={HALF}", "times=1")),
    Row("A26a", "no length, ended by closing the connection", target("close")),
    Row("A26b", "the same over TLS, truncated once without close_notify", target("close", f"truncate={HALF}", "times=1"),
        is_tls=True),
    Row("A27", "an invalid chunk size, once", target(f"badchunk=zz,{HALF}", "times=1")),
    Row("A28a", "accepts and never responds", target("silence")),
    Row("A28b", "a head without end", target("endlesshead", "rate=1M")),
    Row("A28c", "one byte a second", target("drip")),
    Row("A29", "a body without end; at most 16 MB are allowed", target("endless", "rate=4M"),
        wanted=Wanted(max_size=16_000_000)),
    Row("A30a", "garbage instead of HTTP", target("garbage")),
    Row("A30b", "20,000 header fields, 20 MB", target("manyfields=20000,1000")),
    Row("A31", "50 informational responses before the right one", target("informational=50")),
    Row("A32a", "204", target("bodiless=204")),
    Row("A32b", "304 without a conditional request", target("bodiless=304")),
    Row("A33", "redirects in a circle", target("loop")),
    Row("A34a", "redirect to file:", target("location=file:///etc/hostname"), must_refuse=True),
    Row("A34b", "redirect from https to http", target("location={other}"), is_tls=True, must_refuse=True,
        check=went_plain),
    Row("A35", "redirect to another server, Authorization was given for the first", target("location={other}"),
        wanted=Wanted(header="Authorization: Bearer secret"), check=told_secret),
    Row("A36", "a redirected link that is valid once, cut in the middle",
        f"/expiring/1/file/{SIZE}/file.bin?seed=1&reset={HALF}&times=1"),
    Row("A37", "403 on a resume", target("status=403"), held()),
    Row("A38", "503 with Retry-After: 1, twice", target("status=503,1", "times=2")),
    Row("A39a", 'filename="../../evil.bin"', target(disposition('attachment; filename="../../evil.bin"')), wanted=NAMED,
        check=escaped),
    Row("A39b", "filename with an absolute path", target(disposition('attachment; filename="{root}/evil.bin"')),
        wanted=NAMED, check=escaped),
    Row("A40a", 'filename=".bashrc"', target(disposition('attachment; filename=".bashrc"')), wanted=NAMED,
        check=strange_name),
    Row("A40b", 'filename="-rf"', target(disposition('attachment; filename="-rf"')), wanted=NAMED, check=strange_name),
    Row("A40c", "filename of 4,100 letters", target(disposition(f'attachment; filename="{"x" * 4096}.bin"')), wanted=NAMED),
    Row("A40d", "filename with an escape sequence", target(disposition('attachment; filename="a\x1b[2Jb.bin"')),
        wanted=NAMED, check=strange_name),
    Row("A41", "filename with uneven quotes", target(disposition('attachment; filename="a.bin; filename=b')), wanted=NAMED),
    Row("A42", "the name is taken by another, shorter file", target(), known=(STRANGER,), prepare=put_stranger,
        check=stranger_is_gone),
    Row("A43a", "certificate that has expired", target(), is_tls=True, server=("--certificate", "expired"), must_refuse=True),
    Row("A43b", "certificate for another name", target(), is_tls=True, server=("--certificate", "wrongHost"), must_refuse=True),
    Row("A43c", "self-signed certificate", target(), is_tls=True, server=("--certificate", "selfSigned"),
        must_refuse=True),
    Row("A44a", "connection refused on a resume", target(), held(), is_down=True),
    Row("A44b", "closed before the first byte, once", target("drop", "times=1")),
    Row("A45a", "wrong bytes once, under a right Content-Digest",
        target("digest", "corrupt=8000", "times=1", version=SMALL), right=(SMALL,)),
    Row("A45b", "wrong bytes once, the user gave the checksum", target("corrupt=5000000", "times=1"),
        wanted=Wanted(checks=True)),
    *(
        Row(f"A46{letter}", f"two connections are allowed, others {get}", f"/file/{LARGE.size}/file.bin",
            right=(LARGE,), server=("--max-connections", "2", "--excess", excess, *SLOW), wanted=SEVERAL, is_direct=True)
        for letter, excess, get in (("a", "503", "get 503"), ("b", "reset", "are reset"), ("c", "hang", "get no response"))
    ),
    Row("A48", "one connection at a time, others wait", f"/file/{LARGE.size}/file.bin", right=(LARGE,),
        server=("--single", *SLOW), wanted=SEVERAL, is_direct=True),
    # Answers that are not of the file.
    *(
        Row(f"A60{letter}", f"two connections are allowed, others get {get}", f"/file/{LARGE.size}/file.bin",
            right=(LARGE,), server=("--max-connections", "2", "--excess", excess, *SLOW), wanted=SEVERAL, is_direct=True)
        for letter, excess, get in (
            ("a", "json", "200 with JSON"), ("b", "empty", "an empty 200"), ("c", "unsatisfied", "416 with the length 0"))
    ),
    *(
        Row(f"A61{letter}", f"200 with {what} in place of the file on a resume", target(f"document={quote(answer)}"), held())
        for letter, what, answer in (
            ("a", "JSON", 'application/json,{"error":"expired"}'), ("b", "text", "text/plain,too many requests"),
            ("c", "XML", "application/xml,<Error><Code>AccessDenied</Code></Error>"),
            ("d", "an empty body", "application/octet-stream,"))
    ),
    Row("A62", "a redirected link that is valid once, then 400, cut in the middle",
        f"/expiring/1-400/file/{SIZE}/file.bin?seed=1&reset={HALF}&times=1"),
    Row("A63", "another strong ETag with each response, each cut after 3 MiB", target("owntag", f"cut={3 * MEBIBYTE}"),
        counts_bytes=True),
    Row("A64", "one connection is allowed, others get 503 with Retry-After: 600; cut once",
        f"/file/{LARGE.size}/file.bin?cut={LARGE.size // 2}&times=1", right=(LARGE,),
        server=("--max-connections", "1", "--excess", "503,600", *SLOW), wanted=SEVERAL, is_direct=True),
    Row("A65", "503 once, Retry-After as a date 3 s later on a clock that is an hour fast",
        target("busy=3,3600", "times=1")),
    Row("A66", "connection refused, nothing is held, retries by default", target(), is_down=True,
        wanted=Wanted(own_retries=True)),
    Row("A67", "203 with the whole file", target("as=203")),
    Row("A68", "202 with Retry-After: 1, once", target("status=202,1", "times=1")),
    Row("A69a", "the same command again: no length, no validator", target("chunked", *NO_VALIDATOR),
        completes_before=True, healed=target("chunked", *NO_VALIDATOR), check=copies),
    Row("A69b", "the same command again: Last-Modified is always now", target("etag=none", "lastmod=now"),
        completes_before=True, healed=target("etag=none", "lastmod=now"), check=copies),
    changed("A70", "the file was replaced, and its ranges are sent as text/html", LONGER, LATER, "anyifrange",
            "parttype=text/html"),
    # What is not ASCII, and ends that are not told.
    Row("A71", "a query with brackets, a pipe and a lone %", target(RAW_QUERY), is_direct=True, check=other_query),
    Row("A72", "redirect whose Location has a byte of Latin-1",
        target("location=" + quote(f"/file/{SIZE}/caf\u00e9.bin?seed=1"), "latin1")),
    Row("A73", "filename with a byte of Latin-1", target(disposition('attachment; filename="caf\u00e9.bin"'), "latin1"),
        wanted=NAMED),
    Row("A75", "TLS, no length, never close_notify; the user gave the checksum", target("cutclose", *NO_VALIDATOR),
        is_tls=True, healed=target(*NO_VALIDATOR), wanted=Wanted(checks=True)),
    Row("A76", "Content-Length twice, the same", target(f"length2={SIZE}")),
]
