import FerryAPI
import FerryCore
import FerryGateway

import struct Foundation.Data

extension FuzzTarget {
    /// A page of a package index, in HTML and in JSON.
    static func indexPage(_ input: [UInt8]) throws(BrokenPromise) {
        guard let url = try? DownloadURL("https://index.example/simple/name/") else { return }
        let (mark, left) = ("/gw/x", "a link that is left")
        guard input.firstRange(of: Array(left.utf8)) == nil else { return }
        let page = IndexPage(url) { _, _ in mark }
        guard let rewritten = try? page.rewriting(input) else { return }
        try promise(rewritten.count <= input.count * (mark.utf8.count + 2) + 64, "\(rewritten.count) bytes")
        // A link that is not a URL is resolved to the page itself.
        let links = IndexPage(url) { target, _ in target == url || target.path == mark ? nil : left }
        guard let again = try? links.rewriting(rewritten) else { return }
        try promise(
            again.firstRange(of: Array(left.utf8)) == nil, String(decoding: again, as: UTF8.self).debugDescription)
        guard let value = try? JSONValue(Data(input)) else { return }
        guard let files = try? page.rewriting(value)["files"]?.items ?? [] else { return }
        try promise(files.count <= value["files"]?.items?.count ?? 0, "\(files.count) files")
        for file in files {
            if value.members != nil { try promise(file["url"] == .text(mark), "a link that is left: \(file)") }
        }
    }

    /// A path of the gateway that represents a file on another server, or the URL and digest of such a file.
    static func gatewayLink(_ input: [UInt8]) throws(BrokenPromise) {
        let key = GatewayLink.Key("a secret of this gateway, known to no one")
        let text = String(decoding: input, as: UTF8.self)
        try promise(GatewayLink(text[...], key) == nil, "a path that was made without the key")
        let words = text.split(at: " ", maxSplits: 1)
        guard let url = words.first.flatMap({ try? DownloadURL(String($0)) }) else { return }
        let link = GatewayLink(url, words.count > 1 ? try? Checksum(parsing: String(words[1])) : nil)
        let path = link.path(key)
        try promise(path.utf8.allSatisfy { 0x21...0x7E ~= $0 }, "the path \(path.debugDescription)")
        try promise(GatewayLink(path[...], key) == link, "not read again: \(path)")
        try promise(GatewayLink(path[...], GatewayLink.Key("another")) == nil, "accepted by another key")
        let metadata = GatewayLink("\(path).metadata"[...], key)
        try promise(metadata?.url.host ?? url.host == url.host, "another server: \(String(describing: metadata))")
    }

    /// The target of a request to the gateway: every resulting URL must be below the upstream.
    static func gatewayPath(_ input: [UInt8]) throws(BrokenPromise) {
        let text = Substring(String(decoding: input, as: UTF8.self))
        let bases = [
            "pypi=https://index.example/simple/", "hf=https://hub.example", "oci=https://registry.example/v/",
            "apt=http://archive.example/debian/",
        ]
        for upstream in bases.compactMap({ try? GatewayUpstream(parsing: $0) }) {
            var urls = [upstream.url(text), upstream.url(archived: text)]
            if let route = GatewayRoute(text), route.isFor(upstream) {
                switch route {
                case .index(let rest), .hub(let rest), .registry(let rest): urls.append(upstream.url(rest))
                case .archive(let rest): urls.append(upstream.url(archived: rest))
                case .link: break
                }
            }
            if let path = HubPath(text) {
                let commit = String(repeating: "0b", count: 20)
                let fixed = path.text(at: commit) ?? ""
                let again = HubPath(fixed[...])
                try promise(
                    again?.file == path.file && again?.repository == path.repository, "another file: \(fixed)")
                urls.append(upstream.url(fixed[...]))
            }
            for url in urls.compactMap(\.self) { try promiseBelow(upstream.base, url) }
        }
    }

    private static func promiseBelow(_ base: DownloadURL, _ url: DownloadURL) throws(BrokenPromise) {
        try promise(
            url.text.utf8.starts(with: base.text.utf8) && url.host == base.host && url.port == base.port,
            "\(url) is not below \(base)")
        var path = Array(url.path.utf8)
        for _ in 0..<3 {
            let parts = path.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            try promise(!parts.contains { $0.elementsEqual("..".utf8) }, "\(url) leads up")
            path = PercentEncoding.decode(path)
        }
    }

    /// A page in JSON: a bound of the number of its values must be known before they are created.
    static func jsonStructure(_ input: [UInt8]) throws(BrokenPromise) {
        let count = JSONStructure.count(input, upTo: .max) ?? 0
        try promise((1...input.count + 1).contains(count), "\(count) values in \(input.count) bytes")
        try promise(JSONStructure.count(input, upTo: count) == count, "the bound itself is too many")
        if count > 1 {
            try promise(JSONStructure.count(input, upTo: count - 1) == nil, "the bound holds back nothing")
        }
        guard JSONStructure.isShallow(input, depth: 32), let value = try? JSONValue(Data(input)) else { return }
        let values = made(value)
        try promise(values <= count, "\(values) values are made of what counts as \(count)")
    }

    private static func made(_ value: JSONValue) -> Int {
        switch value {
        case .list(let items): items.reduce(1) { $0 + made($1) }
        case .object(let members): members.values.reduce(1 + members.count) { $0 + made($1) }
        default: 1
        }
    }
}
