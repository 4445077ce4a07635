import FerryAPI
import FerryCore
import FerryGateway
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

@Suite("The page's files as they are served")
struct PageBundleTests {
    private func scripts(_ files: [String: String]) -> [String: String] {
        let scripts = PageBundle.scripts(files.mapValues { Array($0.utf8) }, from: "main.js")
        return scripts.mapValues { String(decoding: $0, as: UTF8.self) }
    }

    private func script(_ files: [String: String]) -> String { scripts(files)["/page.js"] ?? "" }

    /// The page's own scripts: the first, and the second with its path.
    private func ownScripts() throws -> (first: String, path: String, second: String) {
        let own = PageBundle.scripts(PageAssets.files, from: "main.js")
            .mapValues { String(decoding: $0, as: UTF8.self) }
        let (path, second) = try #require(own.first { $0.key != "/page.js" })
        #expect(own.count == 2)
        return (try #require(own["/page.js"]), path, second)
    }

    private func modules(in script: String) -> [String] {
        script.matches(of: #/(?m)^modules\['(.+)'\] = /#).map { String($0.1) }
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

    private static let two = [
        "/main.js": "import { a } from './one.js';\nconst SCRIPT = './later.js';\nimport(SCRIPT + a);",
        "/later.js":
            "import { a } from './one.js';\nimport { b } from './more.js';\nexport const c = a + b;\nexport function d() {}",
        "/more.js": "export const b = 2;", "/one.js": "export const a = 1;",
    ]

    @Test("PageBundle: a module that is named by its address begins a second script, with what the first does not have")
    func second() throws {
        let scripts = scripts(Self.two)
        let path = try #require(scripts.keys.first { $0 != "/page.js" })
        #expect(path.wholeMatch(of: #//later-[0-9a-f]+\.js/#) != nil)
        #expect(
            scripts[path] == """
                import { modules } from './page.js';
                modules['more.js'] = (() => {
                const b = 2;
                return { b };
                })();
                modules['later.js'] = (() => {
                const { a } = modules['one.js'];
                const { b } = modules['more.js'];
                const c = a + b;
                function d() {}
                return { c, d };
                })();
                export const { c, d } = modules['later.js'];

                """)
        #expect(scripts["/page.js"]?.contains("const SCRIPT = '.\(path)';\nimport(SCRIPT + a);") == true)
    }

    @Test("PageBundle: the second script has another name in another version of the page, whatever has changed in it")
    func versions() throws {
        var names: Set<String> = []
        for changed in [nil, "/main.js", "/later.js", "/base.css"] {
            var files = Self.two
            if let changed { files[changed, default: ""] += "// other" }
            names.insert(try #require(scripts(files).keys.first { $0 != "/page.js" }))
        }
        #expect(names.count == 4)
    }

    @Test("PageBundle: of style sheets too, comments of whole lines and the blanks before a line are left out")
    func styles() {
        let sheets = ["/* One. */\na {\n  color: red; /* Why. */\n}\n", "\nb { top: 0; }\n"]
        #expect(
            String(decoding: PageBundle.styles(sheets.map { Array($0.utf8) }), as: UTF8.self)
                == "a {\ncolor: red; /* Why. */\n}\nb { top: 0; }\n")
    }

    @Test("PageBundle: what comes before the first rows stays small")
    func size() throws {
        // Over a slow link of 12 KB/s these are most of the time to the first rows. There is room for a few hundred lines more;
        // what is seen at a request alone belongs below later.js.
        let most = 72_000
        let bytes = try ["/", "/page.css", "/page.js"].map { path in
            let asset = try #require(PageAssets.own.asset(at: Substring(path)))
            return (asset.compressed ?? asset.plain).bytes.count
        }
        #expect(bytes.reduce(0, +) < most, "\(bytes)")
    }

    @Test("PageBundle: the first script needs no sentence of the second")
    func sentences() throws {
        let (first, _, second) = try ownScripts()
        let files = PageAssets.files.mapValues { String(decoding: $0, as: UTF8.self) }
        let tables = modules(in: second).filter { $0.hasSuffix("sentences.js") }
        #expect(tables.count == 3)
        let keys = Set(tables.flatMap { (files["/" + $0] ?? "").matches(of: #/(?m)^  '([\w.]+)': \[/#).map(\.1) })
        for name in modules(in: first) where !name.hasSuffix("sentences.js") {
            let text = try #require(files["/" + name])
            // Words with a full stop are keys, whatever they are passed to.
            let used = text.matches(of: #/\bt\('([\w.]+)'/#).map(\.1) + text.matches(of: #/'(\w+\.[\w.]+)'/#).map(\.1)
            #expect(keys.intersection(used).isEmpty, "\(name)")
        }
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

    @Test("PageBundle: every module of the page is in one of its scripts, of which the second imports the first alone")
    func whole() throws {
        let (first, path, second) = try ownScripts()
        let names = PageAssets.files.keys.filter { $0.hasSuffix(".js") }.map { String($0.dropFirst()) }
        #expect((modules(in: first) + modules(in: second)).sorted() == names.sorted())
        let imports = (first + second).split(separator: "\n").filter { $0.hasPrefix("import ") }
        #expect(imports == ["import { modules } from './page.js';"])
        for own in ["/page.js", path] { #expect(PageAssets.own.asset(at: Substring(own)) != nil) }
        for module in ["/main.js", "/later.js"] { #expect(PageAssets.own.asset(at: Substring(module)) == nil) }
        let styles = String(decoding: try #require(PageAssets.own.asset(at: "/page.css")).plain.bytes, as: UTF8.self)
        for (name, sheet) in PageAssets.files where name.hasSuffix(".css") {
            let rules = String(decoding: sheet, as: UTF8.self).matches(of: #/{/#).count
            #expect(rules > 0 && styles.matches(of: #/{/#).count >= rules, "\(name)")
        }
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
