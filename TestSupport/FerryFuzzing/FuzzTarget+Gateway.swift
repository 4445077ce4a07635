import FerryAPI
import FerryCore
import FerryServer

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
        // What is no URL leads to the page itself.
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

    /// A path of the gateway that stands for a file elsewhere, and the URL and digest of one.
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
}
