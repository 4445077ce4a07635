import ArgumentParser
import Ferry
import FerryCore
import FerryTerminal
import HTTPTypes
import Testing

@Suite("Metalink on the command line") struct MetalinkPlanTests {
    private static let document = """
        <metalink xmlns="urn:ietf:params:xml:ns:metalink">
        <file name="f.iso"><size>5</size><url priority="2">http://b/f</url><url priority="1">http://a/f</url></file>
        <file name="../g"><url>http://a/g</url></file>
        <file name="d/h"><hash type="md5">00000000000000000000000000000000</hash><url>http://a/h</url></file>
        </metalink>
        """

    private func plan(
        _ options: GetOptions, files: [String: String], answer: Bool? = nil
    ) throws -> GetPlan {
        try GetPlanner.plan(options, world: .test(files: files, answer: answer))
    }

    @Test(
        "GetPlanner: a Metalink document is a list, by -i whatever its name, or as an argument by its suffix",
        arguments: ["list", "-", "x.meta4", "x.metalink"])
    func document(name: String) throws {
        let isList = !name.hasPrefix("x")
        var options = try GetOptions.parse(isList ? ["-i", name] : [name])
        options.files.directory = "/d"
        let plan = try plan(options, files: [name: Self.document])
        #expect(plan.items.countFiles() == 3)
        let items = Array(plan.items)
        let first = try #require(items[0].request)
        #expect(first.sources.map(\.text) == ["http://a/f", "http://b/f"])
        #expect(first.destination == .file("/d/f.iso") && first.expectedBytes == 5)
        guard case .unusable(let line) = items[1] else {
            Issue.record("\(items[1])")
            return
        }
        #expect(line.contains("line 3: the name of the file") && line.contains(isList && name == "-" ? "input" : name))
        let last = try #require(items[2].request)
        #expect(last.destination == .file("/d/d/h") && last.checksum?.algorithm == .md5)
    }

    @Test("GetPlanner: a document that cannot be read is one unusable item, and the next list goes on")
    func malformed() throws {
        let plan = try plan(
            .of { $0.files.lists = ["a", "b"] }, files: ["a": "<metalink>\n</x>", "b": "http://h/f\n"])
        let items = Array(plan.items)
        #expect(items.count == 2 && items[1].request != nil)
        guard case .unusable("a: line 2: an end tag does not match its start tag") = items[0] else {
            Issue.record("\(items[0])")
            return
        }
    }

    @Test("GetPlanner: a file with such a suffix that is not there is no list, and part files stay what they are")
    func missing() throws {
        #expect(throws: UsageError.self) { try plan(.of("x.meta4"), files: [:]) }
        let url = try plan(.of("example.com/x.meta4"), files: [:])
        #expect(Array(url.items).first?.request?.sources.first?.text == "https://example.com/x.meta4")
    }

    @Test("GetPlanner: whoever wrote the document is not given secrets without a question")
    func secrets() throws {
        let one =
            "<metalink xmlns='urn:ietf:params:xml:ns:metalink'><file name='f'><url>http://a/f</url></file></metalink>"
        var options = try GetOptions.parse(["-i", "l", "-H", "Cookie: a=b"])
        #expect(throws: UsageError.self) { try plan(options, files: ["l": one]) }
        #expect(throws: UsageError.self) { try plan(options, files: ["l": one], answer: false) }
        let granted = try plan(options, files: ["l": one], answer: true)
        #expect(Array(granted.items).first?.request?.headers[.cookie] == "a=b")
        options.request.user = "me:pw@http://a"
        #expect(Array(try plan(options, files: ["l": one]).items).first?.request?.credentials?.user == "me")
    }
}
