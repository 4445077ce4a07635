import Ferry
import Foundation
import Testing

@Suite("Real paths")
struct RealPathTests {
    private static func with(_ body: (_ root: String) throws -> Void) throws {
        let files = FileManager.default
        let root = files.temporaryDirectory.path + "/ferry-" + UUID().uuidString
        try files.createDirectory(atPath: root + "/a/b", withIntermediateDirectories: true)
        defer { try? files.removeItem(atPath: root) }
        try files.createSymbolicLink(atPath: root + "/to-a", withDestinationPath: "a")
        try files.createSymbolicLink(atPath: root + "/a/up", withDestinationPath: "..")
        try body(root)
    }

    @Test(
        "RealPath: a directory contains a place by whatever path they are named, also if neither exists yet",
        arguments: [
            ("/a", "/a"), ("/a/b", "/a"), ("/to-a/b", "/a"), ("/a/b", "/to-a"), ("/a/./b/.", "/a/b/../"),
            ("/a/b/", "/to-a/../a"),
            ("/a/new/x", "/to-a/new"), ("/a/up/a/new", "/a/new/."), ("/new/x/y", "/new/x"), ("/a/b", ""),
        ])
    func inside(place: String, directory: String) throws {
        try Self.with { root in
            #expect(RealPath.isPlace(root + place, in: root + directory))
            #expect(RealPath.isPlace(root + place, in: "/"))
        }
    }

    @Test(
        "RealPath: siblings, directories above, and missing directories with other names do not contain a place",
        arguments: [
            ("/a", "/a/b"), ("/to-a", "/a/b"), ("/ab", "/a"), ("/a/new", "/a/newer"), ("/a/newer", "/a/new"),
            ("/new", "/new/x"),
            ("/a/up/x", "/a"), ("", "/a/up/a"),
        ])
    func outside(place: String, directory: String) throws {
        try Self.with { root in #expect(!RealPath.isPlace(root + place, in: root + directory)) }
    }
}
