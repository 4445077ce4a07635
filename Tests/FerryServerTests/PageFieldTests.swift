import Ferry
import FerryAPI
import Testing

@testable import FerryCore
@testable import FerryServer

/// The page has bounds and defaults of its own, so that it can say at once what is wrong.
@Suite("Page: fields") struct PageFieldTests {
    private func script(_ name: String) throws -> String {
        String(decoding: try #require(PageAssets.files["/" + name]), as: UTF8.self)
    }

    /// The default of each member of a request, as it would be coded.
    private struct Defaults: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: DownloadRequest.CodingKeys.self)
            for property in DownloadRequest.properties { try property.encode(.plain, &container) }
        }
    }

    @Test("fields.js: a whole number is within the bounds of its property, or of its setting")
    func bounds() throws {
        let fields = try script("fields.js")
        var found: [String: ClosedRange<ByteCount>] = [:]
        for match in fields.matches(of: #/(\w+): whole\((\d+), (\d+)\)/#) {
            found[String(match.1)] = try #require(ByteCount(match.2))...(try #require(ByteCount(match.3)))
        }
        #expect(found.removeValue(forKey: "connectionsPerHost") == 1...ByteCount(FerryAPI.mostAtOnce))
        #expect(found.keys.sorted() == ["maxConnections", "maxRedirects"])
        for (name, range) in found {
            let property = try #require(DownloadRequest.properties.first { $0.key.rawValue == name })
            guard case .whole(let bounds)? = property.bounds else {
                Issue.record("\(name) has no bounds")
                continue
            }
            #expect(range.lowerBound == bounds.lowerBound, "\(name)")
            // So many connections are meant by nobody who uses a page.
            #expect(range.upperBound == (name == "maxConnections" ? 64 : bounds.upperBound), "\(name)")
        }
        let endless = try #require(fields.firstMatch(of: #/ENDLESS = ([\d_]+)/#)?.1)
        #expect(Int(endless.replacing("_", with: "")) == DownloadRequest.mostRetries)
    }

    @Test("fields.js: a field to be ticked asks for another value than the default")
    func flags() throws {
        let defaults = try JSONValue(JSONCoding.encode(Defaults()))
        let matches = try script("fields.js").matches(of: #/(\w+): flag\((true|false)\)/#)
        let flags = matches.filter { $0.1 != "isSet" }
        #expect(flags.count >= 8)
        for flag in flags { #expect(defaults[String(flag.1)] == .flag(flag.2 == "false"), "\(flag.1)") }
    }

    @Test("fieldsentences.js: a hint that is a number has the default first")
    func hints() throws {
        var hints: [String: [Substring]] = [:]
        for match in try script("fieldsentences.js").matches(of: #/'field\.(\w+)\.hint': \['(\d+)[^']*', '(\d+)/#) {
            hints[String(match.1)] = [match.2, match.3]
        }
        let standards: [String: any BinaryInteger] = [
            "connectTimeout": TransferSettings().connectTimeout.components.seconds,
            "stallTimeout": DownloadRequest.standardStallTimeout.components.seconds,
            "maxRetries": DownloadRequest.standardMaxRetries, "maxRedirects": DownloadRequest.plain.maxRedirects,
        ]
        #expect(hints.keys.sorted() == standards.keys.sorted())
        for (name, standard) in standards { #expect(hints[name] == ["\(standard)", "\(standard)"], "\(name)") }
    }

    @Test("change.js: a change of other members than those of the table begins a new run")
    func changedAtOnce() throws {
        let list = try #require(try script("change.js").firstMatch(of: #/AT_ONCE = \[([^\]]*)\]/#)?.1)
        let named = list.split(separator: ",").map { $0.filter { $0.isLetter } }
        let own = DownloadRequest.properties.filter { $0.changes == .atOnce }.map(\.key.rawValue)
        // No field of the page is the application's data.
        #expect(Set(named) == Set(own).subtracting(["userInfo"]))
    }
}
