import Ferry
import FerryAPI
import FerryCore

import struct Foundation.Data

extension FuzzTarget {
    /// A list of the files of a set, in any of its formats.
    static func setList(_ input: [UInt8]) throws(BrokenPromise) {
        guard let base = try? DownloadURL("http://set.example/dir/") else { return }
        guard let list = try? SetList(input, base: base) else { return }
        for entry in list.entries {
            let names = entry.path.split(at: "/", omittingEmptySubsequences: false)
            try promise(!names.isEmpty && names.count <= 65, "\(names.count) names")
            for name in names {
                try promise(!name.isEmpty && name != "." && name != "..", "the path \(entry.path.debugDescription)")
                try promise(
                    name.utf8.count <= 255 && !name.utf8.contains { $0 < 0x20 || $0 == 0x7F },
                    "the name \(name.debugDescription)")
            }
            try promise(!entry.sources.isEmpty && entry.sources.count <= 100, "\(entry.sources.count) sources")
            for url in entry.sources { try checkForm(of: url) }
            try promise(entry.totalBytes?.isSize ?? true, "the size \(entry.totalBytes ?? 0)")
            if let sum = entry.checksum { try check(sum) }
        }
        for problem in list.problems { try promiseOneLine("\(problem)") }
    }

    /// A line of a manifest, or of the file of digests beside a download.
    static func manifestLine(_ input: [UInt8]) throws(BrokenPromise) {
        guard JSONStructure.isShallow(input[...], depth: 8),
            let record = try? JSONCoding.decode(FileRecord.self, from: Data(input))
        else { return }
        try promise(record.totalBytes?.isSize ?? true, "the size \(record.totalBytes ?? 0)")
        if let sum = record.checksum { try check(sum) }
        guard let written = try? JSONCoding.encode(record),
            let again = try? JSONCoding.decode(FileRecord.self, from: written)
        else { throw BrokenPromise(description: "not written and read again: \(record)") }
        let third = try? JSONCoding.decode(FileRecord.self, from: JSONCoding.encode(again))
        try promise(third == again, "\(again) became \(third.map { "\($0)" } ?? "nothing")")
    }

    /// A tag of a page, whose links are replaced.
    static func htmlTag(_ input: [UInt8]) throws(BrokenPromise) {
        let page = [UInt8(ascii: "<")] + input
        let tag = HTMLTag(page[...])
        try promise(page.starts(with: tag.text), "another text: \(tag.text)")
        try promise(tag.text.count > 1 || input.isEmpty, "an empty tag before \(input)")
        let mark = #"/a?b=1&c="<'>"#
        let replaced = tag.text(replacing: "href") { _ in mark }
        let again = HTMLTag(replaced[...])
        let shown = String(decoding: replaced, as: UTF8.self).debugDescription
        try promise(again.name == tag.name, "another name: \(shown)")
        try promise(again.value(of: "href") == tag.value(of: "href").map { _ in mark }, "another link: \(shown)")
        try promise(again.value(of: "src") == tag.value(of: "src"), "another source: \(shown)")
        try promise(tag.text(replacing: "no such") { _ in mark } == Array(tag.text), "changed without a link: \(shown)")
    }
}
