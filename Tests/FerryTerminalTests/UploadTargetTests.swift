import Ferry
import FerryTerminal
import Foundation
import Testing

@Suite("Uploads to stores")
struct UploadTargetTests {
    private static let url = "http://h/f.iso"

    private func requests(_ options: GetOptions, list: String = "") throws -> [DownloadRequest] {
        var world = PlanningWorld.test()
        world.environment["XDG_STATE_HOME"] = "/state"
        if !list.isEmpty { world.openList = { ListFile(name: $0, text: list) } }
        return try GetPlanner.plan(options, world: world).items.compactMap(\.request)
    }

    @Test("GetPlanner: -d s3:// is a prefix, and files are in the staging directory until then")
    func prefix() throws {
        for text in ["s3://bucket/a", "s3://bucket/a/"] {
            let request = try #require(try requests(.of(Self.url) { $0.files.directory = text }).first)
            #expect(request.uploadTo?.text == "s3://bucket/a/")
            #expect(request.destination == .directory("/state/ferry/staging"))
        }
        let whole = try requests(.of(Self.url) { $0.files.directory = "s3://bucket" })
        #expect(whole.first?.uploadTo?.text == "s3://bucket/")
    }

    @Test("GetPlanner: -o s3:// is an object, and --staging the directory until then")
    func object() throws {
        let options = GetOptions.of(Self.url) {
            $0.files.output = "s3://bucket/a/b c"
            $0.files.staging = "/disk"
        }
        let request = try #require(try requests(options).first)
        #expect(request.uploadTo?.text == "s3://bucket/a/b%20c")
        #expect(request.destination == .directory("/disk"))
    }

    @Test("GetPlanner: names and directories of a list, and --name, are below the prefix")
    func names() throws {
        let list = GetOptions.of {
            $0.files.lists = ["l"]
            $0.files.directory = "s3://bucket/p"
        }
        let text = "http://h/1\n  out=x/1.bin\nhttp://h/2\n  dir=y\n"
        #expect(
            try requests(list, list: text).map(\.uploadTo?.text) == ["s3://bucket/p/x/1.bin", "s3://bucket/p/y/"])
        #expect(try requests(list, list: "http://h/1\n  out=../1\n").isEmpty)
        let named = try requests(
            .of(Self.url) {
                $0.files.directory = "s3://bucket/p"
                $0.files.name = "{host}/{name}"
            })
        #expect(named.first?.uploadTo?.text == "s3://bucket/p/h/f.iso")
    }

    @Test(
        "GetPlanner: what cannot be a place for objects is refused",
        arguments: [
            ("s3://bucket/p/", nil), ("s3://bucket", nil), ("s3://b", nil), ("s3://bucket/k?versionId=1", nil),
            ("s3://bucket/k", "/d"), ("k", "s3://bucket/p"), (nil, "s3://bucket//p"),
        ] as [(String?, String?)])
    func refused(_ output: String?, _ directory: String?) {
        let options = GetOptions.of(Self.url) { ($0.files.output, $0.files.directory) = (output, directory) }
        #expect(throws: UsageError.self) { try requests(options) }
    }

    @Test("GetPlanner: --staging without an upload is refused")
    func staging() {
        #expect(throws: UsageError.self) { try requests(.of(Self.url) { $0.files.staging = "/disk" }) }
    }
}
