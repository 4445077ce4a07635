"""Command lines whose outcome must be the same in every build of the program.

A case is some command lines that run one after the other in an empty directory. In them {o} is the base URL of an origin
that misbehaves as its URLs say, {site} that of a server with an index page for each directory, {dir} the directory.
The words ("until", TEXT, …) run the command line again and again until it prints TEXT; what it prints then counts.
"""

from dataclasses import dataclass, field

PATIENT = ["--stall-timeout", "2", "--connect-timeout", "2", "--retries", "2"]
MEBIBYTE = 1 << 20

# What the origin does to a file of 2 MiB, for one connection.
BEHAVIOURS = [
    "", "etag=weak", "etag=none", "etag=none&lastmod=none", "lastmod=now", "rawetag=abc", "rawetag=",
    "ranges=off", "ranges=ignore", "ranges=unannounced", "name=other.bin", "disposition=attachment%3B%20filename%3D..%2Fx.bin",
    "disposition=attachment%3B%20filename%2A%3DUTF-8%27%27a%25E2%2582%25AC.bin", "type=text/html", "type=none", "html",
    "chunked", "chunked=7", "close", "chunked&multipart", "gzip", "digest", "baddigest", "delay=100", "pause=200,65536",
    "cut=1048576&times=1", "reset=1048576&times=1", "cut=1048576&times=1&etag=none", "cut=1048576&times=1&etag=weak",
    "cut=1048576&times=1&ranges=off", "cut=0&times=1", "cut=1048576&close", "truncate=1048576", "excess=100",
    "cut=1048576&times=1&chunked", "stall=1048576&times=1", "status=404", "status=403", "status=401", "status=410",
    "status=500", "status=503,0&times=1", "status=503", "status=429,0&times=1", "status=418", "status=202", "status=204",
    "bodiless=204", "bodiless=304", "bodiless=205", "shift=-65536&ranged", "shift=65536&ranged", "badrange=none&ranged",
    "badrange=bytes%2010-5/20&ranged", "total=*&ranged", "early=65536&ranged", "late=65536&ranged", "noifrange&ranged",
    "anyifrange", "byteranges&ranged", "part=0-1024", "unsatisfiable=none", "length=10&length2=20", "length=-5", "length=6x",
    "lengthchunked", "badchunk=zz,1024", "endlesshead", "manyfields=1000,100", "informational=20", "loop",
    "location=file:///etc/passwd", "location=ftp://127.0.0.1/x", "location=http://127.0.0.1:1/x", "silence", "headonly",
    "garbage", "drop", "auth=basic:u:p", "auth=digest:u:p", "cookie=a=b", "field=Content-Language:de",
    "field=Repr-Digest:sha-256%3D:AAAA:",
]


@dataclass
class Case:
    name: str
    commands: list
    files: dict = field(default_factory=dict)  # Name -> text, made before.
    ignored: tuple = ()  # Commands whose output depends on when they began, so that only their exit codes count.


def get(name, *arguments, **more):
    return Case(name, [["get", "--no-progress", "-x", "1", *PATIENT, *arguments]], **more)


def twice(name, *arguments, **more):
    return Case(name, get(name, *arguments).commands * 2, **more)


URL = "{o}/file/300K/a.bin"
LIST = "{o}/file/10K/a.bin\n{o}/file/20K/b.bin?seed=2\n  out=sub/c.bin\n{o}/file/10K/d.bin?status=404\n"
METALINK = """<?xml version="1.0" encoding="UTF-8"?>
<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="m.bin"><size>10000</size>
<url priority="1">{o}/file/10000/m.bin</url><url priority="2">{o}/file/10000/m.bin?etag=weak</url></file>
<file name="../n.bin"><url>{o}/file/10K/n.bin</url></file></metalink>
"""

CASES = [
    *(get(f"origin {behaviour or 'honest'}", f"{{o}}/file/2MiB/f.bin?{behaviour}") for behaviour in BEHAVIOURS),
    *(Case(f"plan {behaviour}", [["plan", *PATIENT, f"{{o}}/file/2MiB/f.bin?{behaviour}"]])
      for behaviour in ("", "ranges=off", "etag=none&lastmod=none", "status=404", "html", "auth=basic:u:p", "chunked")),
    # Commands of one run.
    twice("get the same twice", URL),
    twice("get into the same name", URL, "-o", "a.bin"),
    Case("get over another file", [get("", URL, "-o", "a.bin", "--on-conflict", rule).commands[0]
                                   for rule in ("rename", "skip", "fail", "overwrite")], files={"a.bin": "other"}),
    get("get to standard output", "{o}/file/1K/a.bin", "-o", "-"),
    get("get json", URL, "--json"),
    get("get verbose", URL, "-v"),
    get("get quiet", URL, "-q"),
    get("get with a wrong checksum", URL, "--checksum", "sha256:" + "0" * 64),
    get("get with a strange checksum", URL, "--checksum", "sha256:12"),
    get("get too large", URL, "--max-size", "1K"),
    get("get strict", "{o}/file/300K/a.bin?etag=none&lastmod=none", "--strict"),
    get("get with a mirror", URL, "--mirror", "{o}/file/300K/b.bin"),
    get("get with another mirror", URL, "--mirror", "{o}/file/300K/b.bin?seed=4"),
    get("get with credentials", "{o}/file/10K/a.bin?auth=basic:u:p", "--user", "u:p"),
    get("get with wrong credentials", "{o}/file/10K/a.bin?auth=basic:u:p", "--user", "u:q"),
    get("get with digest credentials", "{o}/file/10K/a.bin?auth=digest:u:p", "--user", "u:p"),
    get("get with a cookie", "{o}/file/10K/a.bin?cookie=a=b", "-b", "a=b"),
    get("get through redirects", "{o}/redirect/302/5/file/10K/a.bin"),
    get("get through too many redirects", "{o}/redirect/302/5/file/10K/a.bin", "--max-redirects", "3"),
    get("get an expired link", "{o}/expiring/1/file/300K/a.bin?cut=100000&times=1"),
    get("get nothing", "{o}/file/0/a.bin"),
    get("get from nobody", "http://127.0.0.1:1/a.bin", "--retries", "0"),
    get("get without a host", "http://no-such-host.invalid/a.bin", "--retries", "0"),
    get("get no private addresses", URL, "--no-private"),
    get("get an unknown scheme", "gopher://127.0.0.1/a"),
    get("get into a missing directory", URL, "-d", "one/two"),
    get("get into a file", URL, "-d", "a", files={"a": ""}),
    get("get by a template", URL, "--name", "{{host}}/{{n}}-{{name}}"),
    get("get with digests", URL, "--record-digests"),
    get("get without an mtime", URL, "--no-mtime"),
    get("get a list", "-i", "list", "-j", "1", files={"list": LIST}),
    Case("get a list with results", get("", "-i", "list", "-j", "1", "--results", "r.jsonl").commands * 2, files={"list": LIST}),
    Case("get from results", [*get("", "-i", "list", "-j", "1", "--results", "r.jsonl").commands,
                              ["get", *PATIENT, "--retry-from", "r.jsonl"]], files={"list": LIST}),
    get("get an unreadable list", "-i", "list", files={"list": "not a url\n  out=x\n"}),
    get("get a metalink", "m.meta4", "-j", "1", files={"m.meta4": METALINK}),
    get("get a broken metalink", "m.meta4", files={"m.meta4": METALINK[:200]}),
    Case("get a checksum file", get("", "{o}/file/10K/a.bin", "--checksum", "@SUMS").commands, files={"SUMS": "0" * 64 + "  a.bin\n"}),
    Case("go on after a cut", [
        ["get", *PATIENT[:-1], "0", "--no-progress", "-x", "1", "{o}/file/8MiB/a.bin?cut=4194304&times=1"],
        ["get", *PATIENT, "--no-progress", "-x", "1", "{o}/file/8MiB/a.bin?cut=4194304&times=1"]]),
    Case("go on by the part file", [
        ["get", *PATIENT[:-1], "0", "--no-progress", "-x", "1", "{o}/file/8MiB/a.bin?cut=4194304&times=1"],
        ["get", *PATIENT, "--no-progress", "-x", "1", "a.bin.part"]]),
    Case("go on by the directory", [
        ["get", *PATIENT[:-1], "0", "--no-progress", "-x", "1", "{o}/file/8MiB/a.bin?cut=4194304&times=1"],
        ["get", *PATIENT, "--no-progress", "-x", "1", "."]]),
    Case("go on after a change", [
        ["get", *PATIENT[:-1], "0", "--no-progress", "-x", "1", "{o}/scene/a.bin"],
        ["get", *PATIENT, "--no-progress", "-x", "1", "{o}/scene/a.bin"]]),
    # Under other names.
    Case("curl", [["curl", "-sS", "-o", "a.bin", URL], ["curl", "-sS", URL], ["curl", "-X", "POST", URL]]),
    Case("wget", [["wget", "-q", "-O", "a.bin", URL], ["wget", "-q", URL], ["wget", "-r", URL]]),
    Case("aria2c", [["aria2c", "-x1", "--quiet", URL], ["aria2c", "-x1", "--quiet", "--allow-overwrite=true", URL],
                    ["aria2c", "--quiet", "{o}/file/10K/d.bin?status=404"], ["aria2c", "--quiet", "-i", "list"]],
         files={"list": LIST}),
    # Sets.
    Case("sync an index", [["sync", "{site}/", "set", "-j", "1"], ["sync", "{site}/", "set", "--delete", "-j", "1"], ["verify", "set"]]),
    Case("sync an index, dry", [["sync", "{site}/", "set", "--dry-run", "--json"]]),
    Case("sync a part of an index", [["sync", "{site}/", "set", "--include", "b/**", "--exclude", "*.txt", "-j", "1"]]),
    Case("sync a list", [["sync", "list.tsv", "set", "-j", "1", *PATIENT]],
         files={"list.tsv": "url\tpath\n{o}/file/10K/a.bin\tx/a.bin\n{o}/file/10K/b.bin\ty/b.bin\n{o}/file/1K/c?status=404\tz\n"}),
    Case("sync csv", [["sync", "list.csv", "set", "-j", "1"]],
         files={"list.csv": 'url,path\n{o}/file/10K/a.bin,"x,1/a.bin"\n{o}/file/10K/b.bin,../b.bin\n'}),
    Case("sync json lines", [["sync", "list.jsonl", "set", "-j", "1"]],
         files={"list.jsonl": '{{"url": "{o}/file/10K/a.bin", "path": "x/a.bin"}}\n{{"url": 5}}\n'}),
    Case("sync a metalink", [["sync", "m.meta4", "set", "-j", "1"]], files={"m.meta4": METALINK}),
    Case("sync nothing", [["sync", "{o}/file/10K/a.bin", "set"], ["sync", "{o}/file/1K/x?status=404", "set"]]),
    Case("verify and repair", [
        get("", URL, "--record-digests").commands[0], ["verify", "a.bin"], ["repair", "a.bin"],
        ["verify", "missing.bin"], ["verify", "SUMS"], ["verify", "."]], files={"SUMS": "0" * 64 + "  a.bin\n"}),
    # The daemon.
    Case("the daemon's life", [
        ["status"], ["add", "--paused", URL, "-d", "{dir}"], ["list"], ["show", "a.bin"], ["set", "a.bin", "connections=1"],
        ["move", "a.bin", "first"], ["resume", "a.bin"], ["watch", "a.bin"], ["list"], ["restart", "a.bin"],
        ["until", "completed", "list"], ["relocate", "a.bin", "{dir}/there"], ["pause", "a.bin"], ["cancel", "a.bin"],
        ["clear"], ["list"], ["remove", "a.bin"], ["set"], ["set", "max-concurrent=2"], ["sets"], ["stop"], ["status"]],
        ignored=("watch",)),
    Case("a list in the daemon", [
        ["add", "-i", "list", "-d", "{dir}", "-x", "1", "--retries", "0"], ["watch", "all"], ["list", "--json"], ["stop"]],
        files={"list": LIST}, ignored=("watch",)),
    Case("the gateway of a daemon that has none", [
        ["gateway"], ["add", "--paused", URL, "-d", "{dir}"], ["gateway"], ["gateway", "list", "--json"], ["gateway", "verify"],
        ["gateway", "purge"], ["gateway", "purge", "--all", "--yes"], ["stop"]]),
    Case("a set in the daemon", [["sync", "--daemon", "{site}/", "{dir}/set"], ["until", "complete", "sets"], ["stop"]]),
    # The rest.
    *(Case(f"help {name}", [[*name.split(), "--help"]]) for name in (
        "", "get", "plan", "curl", "wget", "aria2c", "sync", "verify", "repair", "sets", "add", "list", "show", "watch", "pause", "resume",
        "cancel", "restart", "remove", "clear", "move", "set", "relocate", "web", "browser", "gateway", "fleet", "fleet init", "fleet add",
        "fleet status", "fleet results", "fleet host", "fleet retry", "fleet pause", "fleet resume", "fleet drain",
        "fleet remove", "work", "serve", "status", "stop", "logs", "service", "doctor", "browser-host", "start-commands")),
    Case("usage", [["get"], ["get", "--nonsense", URL], ["nonsense"], ["get", "-x", "many", URL], ["--version"],
                   ["get", "--checksum", "x", URL], ["get", "-o", "a", URL, URL], ["move"], ["fleet", "status"], ["work"]]),
    Case("doctor, service and browser", [["service", "status"], ["browser", "status"], ["logs"]]),
    Case("completions", [["--generate-completion-script", "bash"]]),
]
