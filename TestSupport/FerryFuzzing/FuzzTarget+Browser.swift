import FerryAPI
import FerryBrowser
import FerryCore

import struct Foundation.Data

extension FuzzTarget {
    /// A link in a message of the browser extension, which takes the parts of the link from web pages.
    static func browserLink(_ input: [UInt8]) throws(BrokenPromise) {
        let data = Data(input)
        guard JSONStructure.isShallow(data, depth: NativeMessage.mostLevels),
            let link = try? JSONCoding.decode(Strict<BrowserLink>.self, from: data).body
        else { return }
        let change = link.change(forbidsPrivate: true)
        guard let members = (try? JSONValue(JSONCoding.encode(change)))?.members else {
            throw BrokenPromise(description: "a change that cannot be sent: \(link)")
        }
        let known: Set = ["urls", "headers", "cookies", "userAgent", "allowsPrivate"]
        try promise(known.isSuperset(of: members.keys), "other members: \(members.keys)")
        try promise(members["allowsPrivate"] == false, "the way into the network is open")
        for (name, value) in members["headers"]?.members ?? [:] {
            guard case .text(let text) = value else { throw BrokenPromise(description: "the field \(name): \(value)") }
            try promise(["authorization", "referer"].contains(name.asciiLowercased), "the field \(name)")
            let isValid = text.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }
            try promise(isValid, "the value \(text.debugDescription)")
            guard name.asciiLowercased == "referer" else { continue }
            try promise((try? DownloadURL(text))?.text == text, "the referrer \(text.debugDescription)")
        }
    }
}
