import FerryAPI
import FerryCore
import Foundation
import Testing

@testable import FerryServer

@Suite("DestinationPolicy for clients")
struct DestinationPolicyTests {
    private func run(_ body: (String, DestinationPolicy) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        let files = FileManager.default
        try files.createDirectory(atPath: root + "/allowed/inner", withIntermediateDirectories: true)
        try files.createDirectory(atPath: root + "/outside", withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: root + "/allowed/link", withDestinationPath: root + "/outside")
        defer { try? files.removeItem(atPath: root) }
        try body(root, DestinationPolicy(allowed: [root + "/allowed"]))
    }

    private func new(_ directory: String?, _ name: String? = nil) -> DownloadRequest.Destination {
        .directory(directory ?? "", name: name.map { .exact($0) } ?? .suggested)
    }

    @Test("DestinationPolicy: over TCP names and directories below the allowed one are accepted")
    func allowed() throws {
        try run { root, policy throws in
            let place = root + "/allowed"
            func destination(_ new: DownloadRequest.Destination) throws -> DownloadRequest.Destination {
                let found = try policy.destination(of: new, isLocal: false, default: place)
                #expect(found.root == place)
                return found.place
            }
            #expect(try destination(new(nil)) == .directory(place))
            #expect(try destination(new("")) == .directory(place))
            #expect(try destination(new("inner")) == .directory(place + "/inner"))
            #expect(try destination(new("inner/new")) == .directory(place + "/inner/new"))
            #expect(try destination(new(place + "/inner")) == .directory(place + "/inner"))
            #expect(try destination(new(nil, "a.bin")) == .directory(place, name: .exact("a.bin")))
        }
    }

    @Test(
        "DestinationPolicy: over TCP a directory or name that leads out or is hidden is refused",
        arguments: [
            ("..", nil), ("../outside", nil), ("inner/../../outside", nil), ("inner/..", nil), ("link", nil),
            ("link/deeper", nil), (".ssh", nil), ("inner/.hidden", nil), ("/etc", nil), ("/", nil), ("a//b", nil),
            ("a\0b", nil), ("./inner", nil), ("inner\\..\\x", nil), (nil, "../x"), (nil, "/etc/passwd"), (nil, "a/b"),
            (nil, ".bashrc"), (nil, ".."), (nil, "a\\b"), (nil, "a\0"),
            // A search by Character sees one name in each of these.
            ("link/\u{301}x", nil), ("\u{600}/.hidden", nil), ("inner/\u{600}/..", nil), (nil, "a/\u{301}b"),
            (nil, "a\\\u{301}b"), (String(repeating: "a/", count: 1 << 20) + "a", nil),
            (nil, String(repeating: "a", count: 5000)),
        ] as [(String?, String?)])
    func refused(directory: String?, name: String?) throws {
        try run { root, policy throws in
            #expect(throws: DownloadError.self) {
                try policy.destination(of: new(directory, name), isLocal: false, default: root + "/allowed")
            }
        }
    }

    @Test(
        "DestinationPolicy: what is wrong with a name is said of the name",
        arguments: [
            ("a/b", .slashInName), ("..", .directoryName), (".bashrc", .hiddenName), ("a\\b", .backslashInName),
            ("a\0", .zeroInName),
        ] as [(String, ErrorPhrase.Key)])
    func names(_ name: String, _ problem: ErrorPhrase.Key) throws {
        try run { root, policy throws in
            let error = #expect(throws: DownloadError.self) {
                try policy.destination(of: new(nil, name), isLocal: false, default: root + "/allowed")
            }
            #expect(error?.phrase == ErrorPhrase(.unusableName, name, ErrorPhrase(problem)))
            #expect(error?.suggestion == nil)
        }
    }

    @Test("DestinationPolicy: over TCP siblings with the same prefix and .. in absolute paths are refused")
    func neighbours() throws {
        try run { root, policy throws in
            for directory in [root + "/allowed-not", root + "/allowed/../outside", root + "/allowed/link", root] {
                #expect(throws: DownloadError.self) {
                    try policy.destination(of: new(directory), isLocal: false, default: root + "/allowed")
                }
            }
        }
    }

    @Test("DestinationPolicy: paths and part files are accepted through the socket only")
    func paths() throws {
        try run { root, policy throws in
            let path = DownloadRequest.Destination.file("/anywhere/x")
            let part = DownloadRequest.Destination.part("/anywhere/x.part")
            for new in [path, part] {
                #expect(throws: DownloadError.self) {
                    try policy.destination(of: new, isLocal: false, default: root + "/allowed")
                }
            }
            #expect(try policy.destination(of: path, isLocal: true, default: "/d").place == .file("/anywhere/x"))
            #expect(try policy.destination(of: part, isLocal: true, default: "/d").place == .part("/anywhere/x.part"))
            #expect(try policy.destination(of: new("/etc"), isLocal: true, default: "/d").place == .directory("/etc"))
            #expect(try policy.destination(of: path, isLocal: true, default: "/d").root == nil)
            #expect(throws: DownloadError.self) {
                try policy.destination(of: .stream(1), isLocal: true, default: "/d")
            }
            #expect(throws: DownloadError.self) {
                try policy.destination(of: new("relative"), isLocal: true, default: "/d")
            }
        }
    }

    @Test("DestinationPolicy: over TCP a canonically equivalent name is another directory")
    func equivalents() throws {
        try run { root, _ throws in
            let policy = DestinationPolicy(allowed: [root + "/e\u{301}"])
            #expect(throws: DownloadError.self) {
                try policy.destination(of: new(root + "/\u{E9}"), isLocal: false, default: root + "/e\u{301}")
            }
        }
    }
}
