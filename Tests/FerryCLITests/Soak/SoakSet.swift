import FerryAPI
import FerryTesting

/// A kind of set in a soak: what its server lists, how that and the files misbehave, and the expected end.
enum SoakSet: String, CaseIterable, Sendable {
    case index, busyListing, brokenListing, deep, changing
    case endlessLink, endlessLinks, endlessDepth, paths, locked, corrupt, stale, endlessFile
    case missingListing, garbage
    case unavailable, dripping

    enum End: Sendable, Hashable {
        case complete
        case incomplete
        case failed
        /// The list never comes; a client removes the set while it is awaited.
        case removed
    }

    var end: End {
        switch self {
        case .index, .busyListing, .brokenListing, .deep, .changing: .complete
        case .endlessLink, .endlessLinks, .endlessDepth, .paths, .locked, .corrupt, .stale, .endlessFile: .incomplete
        case .missingListing, .garbage: .failed
        case .unavailable, .dripping: .removed
        }
    }

    /// Whether a sync takes long: so many links are read before too many have come.
    var isSlow: Bool { self == .endlessLinks }

    /// A set of this kind on the server: its source, and the files that are complete at the end, by their paths.
    struct Served: Sendable {
        var kind: SoakSet
        var number: Int
        var source: String
        var files: [String: SoakFile] = [:]

        var id: String { "\(number)-\(kind.rawValue)" }

        func request(_ server: OriginServer, in directory: String) -> NewSet {
            var new = NewSet(url: server.url(source), directory: directory + "/" + id)
            // What is left out is not kept, of a page without an end.
            if kind == .endlessLinks || kind == .endlessLink { new.include = ["keep-*"] }
            return new
        }
    }

    // MARK: The server

    /// Serves a set of this kind with a number, below a path of its own.
    func serve(_ number: Int, on server: OriginServer) -> Served {
        var serving = Serving(kind: self, number: number, server: server)
        serving.serve()
        return serving.served
    }

    private struct Serving {
        let server: OriginServer
        let root: String
        var served: Served
        private var seed: UInt64

        init(kind: SoakSet, number: Int, server: OriginServer) {
            self.server = server
            root = "/sets/\(number)/"
            served = Served(kind: kind, number: number, source: root)
            seed = UInt64(number) * 100
        }

        /// Serves a file.
        ///
        /// - Parameter isComplete: Whether the set has it at the end.
        @discardableResult
        mutating func file(
            _ path: String, size: Int64 = 300_000, isComplete: Bool = true, _ behaviour: Behaviour = .honest
        ) -> SoakFile {
            seed += 1
            let file = SoakFile(path: root + path, size: size, seed: seed)
            file.serve(on: server, behaviour)
            if isComplete { served.files[path] = file }
            return file
        }

        /// Serves a page with two links, and then with this without an end.
        private mutating func endlessPage(_ text: String) {
            file("keep-a")
            file("keep-b")
            let endless = Behaviour { answer, _, _ in
                answer.fields["Content-Length"] = nil
                answer.fields["Connection"] = "close"
                answer.body.append(.endless(Array(text.utf8)))
            }
            page("", ["keep-a", "keep-b"], then: endless)
        }

        func page(_ path: String, _ links: [String], _ behaviours: [Behaviour] = [], then: Behaviour = .honest) {
            let text = "<html>" + links.map { "<a href=\"\($0)\">\($0)</a>\n" }.joined() + "</html>"
            server.serve(root + path, Resource(text: text, contentType: "text/html"))
            server.script(root + path, behaviours, then: then)
        }

        mutating func list(_ lines: [String]) {
            served.source = root + "list"
            server.serve(served.source, Resource(text: lines.joined(separator: "\n") + "\n"))
        }

        mutating func serve() {
            switch served.kind {
            case .index:
                file("honest")
                file("slow", .rate(400_000))
                file("broken", .gets(2, .cut(after: 100_000, .reset)))
                file("truncated", .gets(2, .cut(after: 120_000)))
                file("chunked", .chunked())
                file("busy", .gets(1, .status(503, retryAfter: "1")))
                file("moved", .redirectChain(2))
                file("sub/honest")
                page("sub/", ["honest"])
                page("", ["honest", "slow", "broken", "truncated", "chunked", "busy", "moved", "sub/"])
            case .busyListing:
                file("a")
                file("sub/b")
                page("sub/", ["b"], [.status(503, retryAfter: "1")])
                page("", ["a", "sub/"], [.status(503, retryAfter: "1")])
            case .brokenListing:
                file("a")
                file("b")
                page("", ["a", "b"], [.cut(after: 20), .cut(after: 30, .reset)])
            case .deep: directories("", left: 2)
            case .changing:
                for name in ["a", "b"] {
                    // The file is replaced while it is fetched.
                    let old = UInt64.max - seed
                    let earlier = Behaviour.version { $0 = Resource(size: $0.size, seed: old) }
                    file(name, .gets(1, earlier.and(.cut(after: 150_000, .reset))))
                }
                page("", ["a", "b"])
            case .endlessLink:
                // One that has no end itself.
                endlessPage("<a href=\"" + String(repeating: "x", count: 16_000))
            case .endlessLinks:
                endlessPage((0..<64).map { "<a href=\"\($0)\(String(repeating: "x", count: 3000))\">x</a>\n" }.joined())
            case .endlessDepth:
                // As many directories, one below the other, as are read, and more.
                var path = ""
                for _ in 0..<80 {
                    page(path, ["d/"])
                    path += "d/"
                }
                file("a")
                page("", ["a", "d/"])
            case .paths:
                let right = file("right")
                let url = server.url(right.path)
                list(
                    ["../out", "/etc/out", "a/../../out", "right"].map { #"{"url":"\#(url)","path":"\#($0)"}"# })
            case .locked:
                file("right")
                file("locked", isComplete: false, .basicAuth("user", "password"))
                file("page.bin", isComplete: false, .htmlPage())
                page("", ["right", "locked", "page.bin"])
            case .corrupt:
                let files = [
                    file("right"), file("truncated", .gets(2, .cut(after: 90_000))),
                    file("wrong", isComplete: false, .gets(.max, .corrupt(at: 200_000))),
                ]
                let missing = file("missing", isComplete: false, .status(404))
                let other = file("other", isComplete: false)
                let root = root
                func line(_ file: SoakFile, _ digest: String) -> String {
                    "\(digest)  \(file.path.dropFirst(root.utf8.count))"
                }
                list(
                    files.map { line($0, $0.resource.sha256) }
                        + [missing, other].map { line($0, String(repeating: "0", count: 64)) })
            case .stale:
                let right = file("right")
                // Replaced since the list was written.
                let other = file("longer", isComplete: false)
                list([
                    #"{"url":"\#(server.url(right.path))","path":"right","size":300000}"#,
                    #"{"url":"\#(server.url(other.path))","path":"longer","size":200000}"#,
                ])
            case .endlessFile:
                let right = file("right")
                let endless = file("endless", isComplete: false, .gets(.max, .ignoreRange.and(.endlessBody())))
                list([
                    #"{"url":"\#(server.url(right.path))","path":"right"}"#,
                    #"{"url":"\#(server.url(endless.path))","path":"endless","size":300000}"#,
                ])
            case .missingListing: break
            case .garbage:
                served.source = root + "list"
                server.serve(served.source, Resource(size: 300_000, seed: seed, contentType: "text/plain"))
            case .unavailable: page("", ["a"], then: .status(503, retryAfter: "1"))
            case .dripping: page("", ["a"], then: .rate(1))
            }
        }

        /// Serves a tree of directories with a file in each.
        private mutating func directories(_ path: String, left: Int) {
            file(path + "f", size: 1000)
            let names = left > 0 ? ["1/", "2/", "3/"] : []
            page(path, ["f"] + names)
            for name in names { directories(path + name, left: left - 1) }
        }
    }

    /// Replaces the files of a set that change between two syncs. Returns the set as it is then.
    func change(_ served: Served, on server: OriginServer) -> Served {
        guard self == .changing else { return served }
        var served = served
        for (path, file) in served.files {
            var new = file
            new.seed += 50
            new.size += 1000
            new.serve(on: server)
            served.files[path] = new
        }
        return served
    }
}
