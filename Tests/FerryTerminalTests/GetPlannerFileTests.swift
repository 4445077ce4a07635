import ArgumentParser
import Ferry
import FerryTerminal
import Testing

@Suite("GetPlanner: names and checksum files") struct GetPlannerFileTests {
    private let url = "http://h/f.iso"

    private static func plan(_ options: GetOptions, _ world: PlanningWorld = .test()) throws -> GetPlan {
        try GetPlanner.plan(options, world: world)
    }

    @Test("GetPlanner: --checksum @FILE gives each file the checksum of its name")
    func checksumFile() throws {
        let hex = ["a", "b", "c"].map { String(repeating: $0, count: 64) }
        let world = PlanningWorld.test(files: [
            "SUMS": "\(hex[0])  f.iso\n\(hex[1]) *./dir/g.iso\nSHA256 (n.iso) = \(hex[2])\n", "junk": "no sums\n",
            "g.iso.part": "", "list": "http://h/f.iso\nhttp://h/other\n",
        ])
        func checksums(_ items: String..., output: String? = nil, list: String? = nil) throws -> [String?] {
            var options = try GetOptions.parse(items + ["--checksum", "@SUMS"])
            options.files.output = output
            options.files.lists = [list].compactMap(\.self)
            return try Self.plan(options, world).items.compactMap { $0.request?.checksum?.hex }
        }
        #expect(try checksums("http://h/f.iso", "http://h/x/g.iso?t=1") == [hex[0], hex[1]])
        #expect(try checksums("g.iso.part") == [hex[1]])
        #expect(try checksums("http://h/download", output: "n.iso") == [hex[2]])
        #expect(try checksums(list: "list") == [hex[0]])
        #expect(throws: UsageError("--checksum: SUMS has no checksum of x")) { try checksums("http://h/x") }
        #expect(throws: UsageError("--checksum: there is no checksum in junk")) {
            try Self.plan(.of(url) { $0.files.checksum = "@junk" }, world)
        }
    }

    @Test(
        "GetPlanner: a dot file in a URL of the command line keeps its name, if nothing else in it is unsafe",
        arguments: [
            (".gitignore", ".gitignore"), (".env.example?x=/y", ".env.example"), ("%2Egitignore", ".gitignore"),
            ("..a", nil), (".a%2Fb", nil), (".a.part", nil), (".-a", nil), (".a%0Ab", nil), (".", nil), ("a", nil),
            (".a%FF", nil),
        ] as [(String, String?)])
    func dotFile(path: String, name: String?) throws {
        let request = try #require(try Self.plan(.of("http://h/" + path)).items.first { $0.request != nil }?.request)
        #expect(request.destination == .directory(".", name: name.map { .exact($0) } ?? .suggested))
        let listed = try Self.plan(.of { $0.files.lists = ["list"] }, .test(files: ["list": "http://h/" + path + "\n"]))
        #expect(listed.items.compactMap(\.request).first?.destination == .directory("."))
    }

    @Test("GetPlanner: an argument that is given twice counts once")
    func twice() throws {
        let plan = try Self.plan(.of(url, "http://h/other", url))
        #expect(plan.items.compactMap { $0.request?.sources.first?.text } == [url, "http://h/other"])
    }
}
