import Ferry
import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import FerryAria2
@testable import FerryServer

@Suite("aria2's dialect")
struct Aria2DialectTests {
    private func failure(_ message: JSONRPC.Message) -> Aria2Error? {
        guard case .single(let request) = message, case .failure(let error) = request.call else { return nil }
        return error
    }

    @Test(
        "JSON-RPC: what is no request gets aria2's codes and statuses",
        arguments: [
            ("{oops", -32_700, 500), ("", -32_700, 500), ("3", -32_700, 500), ("null", -32_600, 400),
            (#""a""#, -32_600, 400), (#"{"method": "m"}"#, -32_600, 400), (#"{"id": 1}"#, -32_600, 400),
            (#"{"id": 1, "method": 2}"#, -32_600, 400), (#"{"id": 1, "method": "m", "params": {}}"#, -32_602, 500),
            (String(repeating: "[", count: 100_000), -32_700, 500),
        ])
    func malformed(text: String, code: Int, status: Int) throws {
        let error = try #require(failure(JSONRPC.parse(Data(text.utf8))))
        #expect(error.code == code)
        #expect(JSONRPC.status(of: .failure(error)) == status)
    }

    @Test("JSON-RPC: identifiers of any type come back, and items of a batch that are no objects are left out")
    func identifiers() throws {
        for id: JSONValue in [.null, .whole(1), .text("a"), .list([1, ["a": .number(2.5)]]), .flag(true)] {
            let text = try JSONCoding.encode(JSONValue.object(["id": id, "method": "m"]))
            guard case .single(let request) = JSONRPC.parse(text) else { return #expect(Bool(false)) }
            #expect(request == JSONRPC.Request(id: id, call: .success(Aria2Call(method: "m"))))
            #expect(JSONRPC.response(id, .success("r")) == ["jsonrpc": "2.0", "id": id, "result": "r"])
        }
        guard case .batch(let requests) = JSONRPC.parse(Data(#"[{"id": 1, "method": "m"}, 5, "x"]"#.utf8)) else {
            return #expect(Bool(false))
        }
        #expect(requests.count == 1)
    }

    @Test("Aria2Call: the token is the first parameter, and no other")
    func token() {
        var call = Aria2Call(method: "m", params: ["token:s", "x"])
        #expect(call.takeToken() == "s")
        #expect(call.params == ["x"])
        #expect(call.takeToken() == nil)
        #expect(call.params == ["x"])
    }

    @Test(
        "Aria2Page: offsets select as in aria2",
        arguments: [
            (0, 2, 5, 0..<2, false), (3, 10, 5, 3..<5, false), (5, 1, 5, 5..<5, false), (9, 9, 5, 5..<5, false),
            (-1, 2, 5, 3..<5, true), (-2, 2, 5, 2..<4, true), (-1, 100, 5, 0..<5, true), (-5, 1, 5, 0..<1, true),
            (-6, 3, 5, 0..<0, true), (0, 0, 5, 0..<0, false), (-1, 0, 5, 5..<5, true), (0, 3, 0, 0..<0, false),
            (.min, .max, 5, 0..<0, true), (.max, .max, 5, 5..<5, false), (-1, .max, 5, 0..<5, true),
        ])
    func page(offset: Int, number: Int, total: Int, range: Range<Int>, isReversed: Bool) {
        let page = Aria2Page.range(offset: offset, number: number, of: total)
        #expect(page.range == range)
        #expect(page.isReversed == isReversed)
    }

    @Test("XML-RPC: values of every type are read, and a result is written so that it reads the same")
    func xml() throws {
        let text = """
            <?xml version="1.0"?><methodCall><methodName> m </methodName><params>
            <param><value>a &lt;b&gt;</value></param><param><value><int>-5</int></value></param>
            <param><value><boolean>1</boolean></value></param><param><value><double>1.5</double></value></param>
            <param><value><array><data><value><i4>1</i4></value><value><string/></value></data></array></value></param>
            <param><value><struct><member><name>n</name><value><base64>YQ==</base64></value></member></struct></value></param>
            </params></methodCall>
            """
        let call = try #require(XMLRPC.call(in: Data(text.utf8)))
        let params: [JSONValue] = ["a <b>", -5, true, .number(1.5), [1, ""], ["n": "YQ=="]]
        #expect(call == Aria2Call(method: "m", params: params))
        let response = XMLRPC.response(.success(.list(params)))
        let again = response.replacing("methodResponse>", with: "methodCall>")
        #expect(XMLRPC.call(in: Data(again.utf8))?.params == [.list(params)])
        #expect(XMLRPC.response(.failure(Aria2Error("<&>"))).contains("<string>&lt;&amp;&gt;</string>"))
        for bad in ["", "<a/>", "<methodCall>", "<!DOCTYPE a><methodCall/>"] {
            #expect(XMLRPC.call(in: Data(bad.utf8)) == nil, "\(bad)")
        }
        for value in ["<int>x</int>", "<boolean>2</boolean>", "<double>nan</double>", "<what/>"] {
            let bad = "<methodCall><params><param><value>\(value)</value></param></params></methodCall>"
            #expect(XMLRPC.call(in: Data(bad.utf8)) == nil, "\(value)")
        }
    }

    // MARK: Identifiers

    @Test("Aria2GID: a generated identifier and its gid are computed from each other; any identifier has one")
    func gids() throws {
        for bits: UInt64 in [1, 0x0123_4567_89AB_CDEF, .max, 1 << 63] {
            let id = DownloadID(bits: bits)
            #expect(id.rawValue.utf8.count == 13)
            #expect(id.bits == bits)
            let gid = Aria2GID(id)
            #expect(gid.description.utf8.count == 16)
            #expect(Aria2GID(gid.description)?.id == id)
        }
        for _ in 0..<100 { #expect(DownloadID.make().bits != nil) }
        #expect(Aria2GID(DownloadID(bits: 0x0123_4567_89AB_CDEF)).description == "0123456789abcdef")
        // Not generated: too long, another letter, or more than 64 bits.
        for text in ["mine", "0123456789abcdef", "iiiiiiiiiiiii", "zzzzzzzzzzzzz"] {
            #expect(DownloadID(rawValue: text).bits == nil, "\(text)")
            #expect(Aria2GID(DownloadID(rawValue: text)) == Aria2GID(DownloadID(rawValue: text)))
        }
        #expect(Aria2GID(DownloadID(rawValue: "mine")) != Aria2GID(DownloadID(rawValue: "yours")))
    }

    @Test("Aria2GID: a prefix of 1 to 16 digits begins the gids that begin so")
    func prefixes() throws {
        let gid = Aria2GID(DownloadID(bits: 0x0123_4567_89AB_CDEF))
        for text in ["0", "01", "0123456789abcdef", "0123456789ABCDEF"] {
            #expect(try #require(Aria2GID.Prefix(text)).begins(gid), "\(text)")
        }
        for text in ["1", "00", "0123456789abcdee"] {
            #expect(try !#require(Aria2GID.Prefix(text)).begins(gid), "\(text)")
        }
        for text in ["", "xyz", "+1", "-1", "0x1", " 1", String(repeating: "f", count: 17), "é"] {
            #expect(Aria2GID.Prefix(text) == nil, "\(text)")
        }
        #expect(Aria2GID("0000000000000000") == nil)
        #expect(Aria2GID("0123") == nil)
    }

    // MARK: Pieces

    @Test("Aria2Pieces: the bit field has a bit for each whole piece, the first in the highest bit")
    func bitfield() {
        let piece: ByteCount = 1 << 20
        let pieces = Aria2Pieces(total: 10 * piece + 5)
        #expect(pieces.length == piece)
        #expect(pieces.count == 11)
        #expect(pieces.bitfield(of: RangeSet()) == "0000")
        #expect(pieces.bitfield(of: RangeSet(0..<10 * piece + 5)) == "ffe0")
        #expect(pieces.bitfield(of: RangeSet(0..<piece)) == "8000")
        #expect(pieces.bitfield(of: RangeSet(1..<2 * piece)) == "4000")
        #expect(pieces.bitfield(of: RangeSet(1..<2 * piece - 1)) == "0000")
        // The last piece is whole at the end of the file.
        #expect(pieces.bitfield(of: RangeSet(10 * piece..<10 * piece + 5)) == "0020")
        #expect(pieces.bitfield(of: RangeSet(10 * piece..<10 * piece + 4)) == "0000")
        #expect(Aria2Pieces(total: 0).count == 0)
    }

    @Test("Aria2Pieces: files of any declared size have a bounded number of pieces", arguments: ExtremeNumbers.all)
    func bounds(total: Int64) {
        guard total.isSize else { return }
        let pieces = Aria2Pieces(total: total)
        #expect(pieces.count <= Int(Aria2Pieces.most))
        #expect(
            pieces.bitfield(of: total > 0 ? RangeSet(0..<total) : RangeSet()).utf8.count == (pieces.count + 7) / 8 * 2)
    }

    // MARK: Options

    @Test("Options: another proxy gets no user and password of the defaults", arguments: ["all-proxy", "http-proxy"])
    func proxies(name: String) throws {
        let defaults = Aria2Options(values: [
            name: "http://own:1", name + "-user": "me", name + "-passwd": "secret", "dir": "/d",
        ])
        let source = try DownloadURL("http://h/f")
        let own = try Aria2Options(values: ["dir": "/e"]).over(defaults).request([source])
        #expect(own.connection.proxy?.server?.credentials?.user == "me")
        let other = try Aria2Options(values: [name: "http://other:1"]).over(defaults).request([source])
        #expect(other.connection.proxy?.server != nil && other.connection.proxy?.server?.credentials == nil)
    }

    @Test("Aria2Options: values become the request, numbers in their canonical form")
    func options() throws {
        let options = try Aria2Options([
            "dir": "/d", "out": "sub/a.bin", "split": "8", "max-connection-per-server": "4",
            "header": ["A: 1", "B: 2"],
            "user-agent": "u", "referer": "*", "max-download-limit": "10K",
            "checksum": "md5=abababababababababababababababab",
            "http-user": "me", "http-passwd": "p", "all-proxy": "http://h:1", "max-tries": "3", "timeout": "7",
            "connect-timeout": "9", "pause": "true", "gid": "0123456789abcdef", "allow-overwrite": "true",
            "continue": "true", "remote-time": "false", "min-split-size": "2M", "nonsense": "x", "conf-path": "/etc/x",
            "on-download-complete": "/bin/sh", "load-cookies": "/etc/passwd", "lowest-speed-limit": "2K",
            "max-mmap-limit": 5,
        ])
        #expect(options.values["max-download-limit"] == "10240")
        #expect(options.values["min-split-size"] == "2097152")
        for ignored in ["nonsense", "conf-path", "on-download-complete", "load-cookies", "max-mmap-limit"] {
            #expect(options.values[ignored] == nil, "\(ignored)")
        }
        let request = try options.request([try DownloadURL("http://a/x?y"), try DownloadURL("http://b/x")])
        #expect(request.destination == .directory("/d/sub", name: .exact("a.bin")))
        #expect(request.maxConnections == 8)
        #expect(request.headers.map { "\($0.name.rawName): \($0.value)" } == ["A: 1", "B: 2", "Referer: http://a/x?y"])
        #expect(request.connection.userAgent == "u")
        #expect(request.rateLimit == 10_240)
        #expect(request.checksum?.algorithm == .md5)
        #expect(request.credentials == Credentials(user: "me", password: "p"))
        #expect(request.connection.proxy?.description == "http://h:1")
        #expect(request.maxRetries == 2)
        #expect(request.stallTimeout == .seconds(7))
        #expect(request.minSpeed == 2048)
        #expect(request.connection.connectTimeout == .seconds(9))
        #expect(request.startsPaused)
        #expect(request.id == DownloadID(bits: 0x0123_4567_89AB_CDEF))
        #expect(request.onConflict == .overwrite)
        #expect(request.onDuplicate == .existing)
        #expect(!request.usesServerTime)
        #expect(
            request.userInfo["aria2"]?.split(separator: "\n").sorted() == [
                "max-connection-per-server=4", "min-split-size=2097152", "split=8",
            ])
        #expect(Aria2Options(storedIn: request.userInfo).values["min-split-size"] == "2097152")
    }

    @Test(
        "Aria2Options: values of another form are refused as by aria2, and those that ask for what Ferry does not do",
        arguments: [
            ("split", "zz"), ("split", "0"), ("split", "99999999999999999999"), ("allow-overwrite", "maybe"),
            ("timeout", "601"), ("max-download-limit", "-1"), ("max-download-limit", "9223372036854775807K"),
            ("file-allocation", "some"), ("user-agent", "a\r\nX: y"), ("dry-run", "true"),
            ("parameterized-uri", "true"), ("hash-check-only", "true"), ("no-proxy", "example.com"),
            ("dir", "a\0b"),
        ])
    func unusable(name: String, value: String) {
        #expect(throws: Aria2Error.self) { try Aria2Options([name: .text(value)]) }
    }

    @Test("Aria2Options: header fields of the connection are dropped, those that Ferry sets are refused")
    func headers() throws {
        let urls = [try DownloadURL("http://a/x")]
        let request = try Aria2Options(["header": "Connection: keep-alive\nAccept-Encoding: gzip\nCookie: a=b\n"])
            .request(urls)
        #expect(request.headers.map(\.name.rawName) == ["Cookie"])
        for line in ["Range: bytes=0-", "no colon", "A: b\u{1}"] {
            #expect(throws: Aria2Error.self, "\(line)") { try Aria2Options(["header": .text(line)]).request(urls) }
        }
    }

    @Test("Aria2Options: no option names a program to run or a file to read or write")
    func dangerous() {
        let names = Set(
            (Aria2Option.ofDownload + Aria2Option.ofDaemon).filter { $0.call?.effect != .refused }.map(\.name))
        // What these say is a number or a word of a list.
        let plain: Set = [
            "auto-file-renaming", "file-allocation", "follow-torrent", "force-save", "max-file-not-found",
            "no-file-allocation-limit",
            "rpc-save-upload-metadata", "save-not-found", "remove-control-file",
        ]
        for name in names.subtracting(plain) {
            #expect(!name.hasPrefix("on-"))
            for word in ["conf", "log", "file", "path", "save", "cookie", "cert", "key", "hook", "input", "torrent"] {
                #expect(!name.utf8.contains(word), "\(name)")
            }
        }
        #expect(plain.isSubset(of: names))
    }

    // MARK: Access

    @Test("Aria2Access: a Host of this port, and an Origin only if it is allowed")
    func access() {
        let access = Aria2Access(port: 6800, allowedOrigins: ["http://panel.example", "null"])
        func verdict(_ host: String?, _ origins: [String] = [], site: String? = nil) -> Aria2Access.Verdict {
            var origin = AccessPolicy.RequestOrigin(method: .post, target: "/jsonrpc", hosts: host.map { [$0] } ?? [])
            origin.origins = origins
            origin.sites = site.map { [$0] } ?? []
            return access.verdict(origin)
        }
        #expect(verdict("127.0.0.1:6800") == .allowed(origin: nil))
        #expect(verdict("LOCALHOST:6800") == .allowed(origin: nil))
        for host in ["evil.example:6800", "127.0.0.1", "127.0.0.1:6801", nil] {
            #expect(verdict(host) == .refused(status: 421), "\(host ?? "none")")
        }
        #expect(verdict("[::1]:6800", ["http://panel.example"]) == .allowed(origin: "http://panel.example"))
        #expect(verdict("[::1]:6800", ["null"]) == .allowed(origin: "null"))
        #expect(verdict("[::1]:6800", ["http://localhost:6800"]) == .allowed(origin: "http://localhost:6800"))
        for origin in [
            "http://evil.example", "https://panel.example", "http://panel.example.evil", "http://127.0.0.1:6801",
        ] {
            #expect(verdict("[::1]:6800", [origin]) == .refused(status: 403), "\(origin)")
        }
        #expect(verdict("[::1]:6800", ["null", "null"]) == .refused(status: 403))
        #expect(verdict("[::1]:6800", site: "cross-site") == .refused(status: 403))
        #expect(verdict("[::1]:6800", site: "none") == .allowed(origin: nil))
    }

    @Test("Aria2Visit: after a wrong token those of later calls are not compared")
    func guesses() {
        let secret = SharedToken("s")
        var visit = Aria2Visit(.json)
        #expect(throws: Never.self) { try visit.present("s", to: secret) }
        #expect(throws: Aria2Error.unauthorized) { try visit.present(nil, to: secret) }
        #expect(throws: Aria2Error.unauthorized) { try visit.present("s", to: secret) }
        #expect(visit.isKnown && visit.isRefused)
        for token in ["", "S", "ss", "s\0"] { #expect(!secret.matches(token)) }
    }

    @Test("Aria2Events: a start is notified once until the download pauses or ends")
    func events() {
        var events = Aria2Events()
        func take(_ kind: DownloadEvent.Kind) -> Aria2Notification? {
            events.take(DownloadEvent(id: DownloadID(rawValue: "a"), date: Date(), kind: kind))
        }
        let started = DownloadEvent.Kind.started(name: "a", totalBytes: nil)
        #expect(take(.added(url: "u")) == nil)
        #expect(take(started) == .start)
        #expect(take(.resumed(offset: 1, totalBytes: nil, reason: "")) == nil)
        #expect(take(.paused) == .pause)
        #expect(take(started) == .start)
        #expect(take(.waiting(.freshLink, message: "")) == .error)
        #expect(take(started) == .start)
        #expect(take(.waiting(.network, message: "")) == nil)
        #expect(take(started) == .start)
        #expect(take(.failed(DownloadError(.disk, ""))) == .error)
        #expect(take(.cancelled) == .stop)
    }

    @Test("Aria2State: each state of the list is in one of aria2's lists")
    func states() {
        let kinds = Aria2State.Group.allCases.flatMap(\.kinds)
        #expect(kinds.count == StateKind.allCases.count)
        #expect(Set(kinds) == Set(StateKind.allCases))
        let states: [DownloadState] = [
            .waiting(.slot), .waiting(.server(since: nil, until: nil)), .waiting(.network),
            .waiting(.retry(at: Date())), .waiting(.diskSpace),
            .waiting(.freshLink), .waiting(.credentials), .waiting(.notBefore(Date())), .downloading, .verifying,
            .paused,
            .failed(DownloadError(.disk, "")), .completed(.single), .cancelled,
        ]
        for state in states { #expect(Aria2State(state).group.kinds.contains(StateKind(state)), "\(state)") }
    }

    @Test("docs/aria2.md has every method, notification and option with its effect")
    func documentation() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/aria2.md"), encoding: .utf8)
        for method in Aria2Method.allCases {
            let name = method.rawValue.split(separator: ".")[1]
            #expect(text.contains("`\(name)`"), "\(name)")
        }
        for notification in Aria2Notification.allCases {
            #expect(text.contains("`\(notification.rawValue.dropFirst("aria2.".count))`"))
        }
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
        for option in Aria2Option.ofDownload + Aria2Option.ofDaemon {
            let own = rows.filter { $0.split(separator: "|")[0].contains("`\(option.name)`") }
            let effect = try #require(option.call).effect
            #expect(own.contains { $0.contains("| \(effect.rawValue) |") }, "\(option.name)")
        }
    }
}
