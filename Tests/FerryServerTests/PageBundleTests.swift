import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

@Suite("The page's files as they are served")
struct PageBundleTests {
    private func script(_ files: [String: String]) -> String {
        String(decoding: PageBundle.script(files.mapValues { Array($0.utf8) }, from: "main.js"), as: UTF8.self)
    }

    @Test("PageBundle: modules become functions in the order in which they need each other, each once")
    func order() {
        let script = script([
            "/main.js": "import { a, b as c } from './one.js';\nimport * as two from './two.js';\nrun(a, c, two);",
            "/one.js": "import { x } from './two.js';\nexport const a = x;\nexport async function b() {}",
            "/two.js": "export const x = 1;\nexport class Y extends Z {}",
            "/unused.js": "export const no = 1;",
        ])
        #expect(
            script == """
                const modules = {};
                modules['two.js'] = (() => {
                const x = 1;
                class Y extends Z {}
                return { x, Y };
                })();
                modules['one.js'] = (() => {
                const { x } = modules['two.js'];
                const a = x;
                async function b() {}
                return { a, b };
                })();
                modules['main.js'] = (() => {
                const { a, b : c } = modules['one.js'];
                const two = modules['two.js'];
                run(a, c, two);
                return {  };
                })();
                export { modules };

                """)
    }

    @Test("PageBundle: comments and blanks before a line are left out, and what is in a line stays")
    func comments() {
        let script = script(["/main.js": "/// Says it.\nif (a) {\n  // Why.\n\n  say('// no  comment'); // One.\n}\n"])
        let expected = "modules['main.js'] = (() => {\nif (a) {\nsay('// no  comment'); // One.\n}\nreturn {  };\n})();"
        #expect(script.contains(expected), "\(script)")
    }

    @Test("PageBundle: no text in a module goes on over a line")
    func wholeLines() {
        for (name, bytes) in PageAssets.files where name.hasSuffix(".js") {
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                // The one pattern with a backtick in it.
                let marks = line.replacingOccurrences(of: "^_`|~", with: "").filter { $0 == "`" }
                #expect(marks.count.isMultiple(of: 2), "\(name): \(line)")
            }
        }
    }

    @Test("PageBundle: every module of the page is in the script, and nothing in it imports")
    func whole() throws {
        let asset = try #require(PageAssets.own.asset(at: "/page.js"))
        let lines = String(decoding: asset.plain.bytes, as: UTF8.self).split(separator: "\n")
        let modules = PageAssets.files.keys.filter { $0.hasSuffix(".js") }
        #expect(lines.filter { $0.hasPrefix("modules['") }.count == modules.count)
        #expect(!lines.contains { $0.hasPrefix("import ") })
        #expect(PageAssets.own.asset(at: "/main.js") == nil)
        let styles = try #require(PageAssets.own.asset(at: "/page.css"))
        let sheets = PageAssets.files.filter { $0.key.hasSuffix(".css") }
        #expect(styles.plain.bytes.count == sheets.values.reduce(0) { $0 + $1.count })
    }

    @Test(
        "ContentCoding: gzip is sent where a request accepts it, and nowhere else",
        arguments: [
            ([], false), (["identity"], false), (["gzip, deflate, br"], true), (["br;q=1.0, GZIP;q=0.5"], true),
            (["gzip;q=0"], false), (["gzip; q=0.000, *"], false), (["*"], true), (["*;q=0"], false),
            (["deflate"], false),
            (["deflate", "gzip"], true),
        ] as [([String], Bool)])
    func accepted(fields: [String], isAccepted: Bool) {
        #expect(ContentCoding.acceptsGzip(fields) == isAccepted)
    }

    @Test("ContentCoding: what is compressed is read back; short bodies and random ones stay as they are")
    func coded() throws {
        let bytes = Array(String(repeating: "the same again and again, ", count: 1000).utf8)
        let form = try #require(ContentCoding.gzip(bytes, effort: 4))
        #expect(form.count < bytes.count / 10)
        var file = try ExpandedFile(form, most: 1 << 20)
        var read: [UInt8] = []
        while let piece = try file.next() { read += piece }
        #expect(read == bytes)
        #expect(ContentCoding.gzip(Array(bytes.prefix(1000)), effort: 4) == nil)
        var seeded = SeededGenerator(seed: 5)
        #expect(
            ContentCoding.gzip((0..<5000).map { _ in UInt8.random(in: .min ... .max, using: &seeded) }, effort: 9)
                == nil)
    }

    @Test("API over TCP: the page and lists are compressed for those who accept it; small answers are not")
    func served() async throws {
        try await DaemonRig.run { rig in
            let port = try #require(rig.addresses.port)
            for name in 0..<20 { _ = try await rig.add(rig.new("/file/\(name + 1)k") { $0.startsPaused = true }) }
            let bearer = ["Authorization": "Bearer \(rig.token)"]
            let accepting = bearer.merging(["Accept-Encoding": "gzip"]) { $1 }
            for path in ["/page.js", "/page.css", Route.list.path()] {
                let plain = try await rig.send("GET", path, headers: bearer, port: port)
                let coded = try await rig.send("GET", path, headers: accepting, port: port)
                #expect(plain.headers["content-encoding"] == nil)
                #expect(coded.headers["content-encoding"] == "gzip", "\(path)")
                #expect(coded.headers["vary"] == "Accept-Encoding")
                var file = try ExpandedFile([UInt8](coded.data), most: 1 << 20)
                var read: [UInt8] = []
                while let piece = try file.next() { read += piece }
                #expect(read == [UInt8](plain.data), "\(path)")
            }
            var tags: Set<String> = []
            for headers in [bearer, accepting] {
                let tag = try #require(
                    try await rig.send("GET", "/page.js", headers: headers, port: port).headers["etag"])
                tags.insert(tag)
                let known = headers.merging(["If-None-Match": tag]) { $1 }
                #expect(try await rig.send("GET", "/page.js", headers: known, port: port).status == 304)
            }
            #expect(tags.count == 2)
            for route in [Route.greeting, .settings, .tokens] {
                let reply = try await rig.send("GET", route.path(), headers: accepting, port: port)
                #expect(reply.headers["content-encoding"] == nil, "\(route)")
            }
        }
    }
}
