import FerryCore

/// Bundles the page's modules into two scripts, so that a browser over a slow link sends two requests in place of sixty, and loads
/// only the code for the first rows before it shows them.
///
/// Each module becomes a function that is called once, after the functions of its imports:
/// `modules["a.js"] = (() => { …; return { …its exports }; })();`. The modules use only the syntax that is parsed here: an import
/// is one line, `import { a, b as c } from './x.js';` or `import * as a from './x.js';`, a declaration is exported where it is
/// declared, and no string continues on the next line. Comment lines and indentation, a sixth of the bytes, are dropped.
///
/// The first script is `page.js`. A string `'./later.js'` outside an import declaration is the address of the second script, for
/// `import(…)`. The second script contains that module and those of its imports that the first script lacks. It has the exports of
/// the module, and takes the modules of the first script from `page.js`, which a browser runs only once. Its name contains a hash
/// of all files, such as `later-1f2e….js`. An updated daemon has no script of that name, so a page never runs modules of two
/// versions. Pure.
struct PageBundle {
    private let files: [String: [UInt8]]
    private let version: String
    private var included: Set<String> = []
    /// The module of the second script, once a module of the first script has named it.
    private var second: String?

    /// Returns the scripts by path: the script of a module and all its imports, and the second script, if the first one names it.
    /// `files` are the contents by path.
    static func scripts(_ files: [String: [UInt8]], from entry: String) -> [String: [UInt8]] {
        var bundle = PageBundle(files: files)
        let first = bundle.modules(of: entry)
        var scripts = ["/page.js": "const modules = {};\n\(first.script)export { modules };\n"]
        if let second = bundle.second {
            let (script, exports) = bundle.modules(of: second)
            scripts["/" + bundle.address(of: second)] =
                "import { modules } from './page.js';\n\(script)export const { \(exports) } = modules['\(second)'];\n"
        }
        return scripts.mapValues { Array($0.utf8) }
    }

    private init(files: [String: [UInt8]]) {
        self.files = files
        let all = files.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        version = String(PageAssets.hash(of: all.flatMap { Array($0.key.utf8) + $0.value }), radix: 16)
    }

    /// Returns the style sheets as one, without comment lines and indentation.
    static func styles(_ sheets: [[UInt8]]) -> [UInt8] {
        var styles = ""
        for line in sheets.flatMap({ String(decoding: $0, as: UTF8.self).split(at: "\n") }) {
            let rule = Substring(line.utf8.drop { $0 == UInt8(ascii: " ") })
            if rule.isEmpty || (rule.utf8.hasPrefix("/*") && rule.utf8.hasSuffix("*/")) { continue }
            styles += rule + "\n"
        }
        return Array(styles.utf8)
    }

    /// Returns the functions of a module and its imports, except the modules that were already included, and the module's exports.
    private mutating func modules(of name: String) -> (script: String, exports: String) {
        guard included.insert(name).inserted, let bytes = files["/" + name] else { return ("", "") }
        var script = ""
        var body = ""
        var exports: [Substring] = []
        for line in String(decoding: bytes, as: UTF8.self).split(at: "\n", omittingEmptySubsequences: false) {
            if let rest = line.dropping(prefix: "import ") {
                let parts = rest.split(at: "'")
                let module = String(parts[1].dropping(prefix: "./") ?? parts[1])
                script += modules(of: module).script
                body += Self.binding(parts[0], of: module)
            } else if let declaration = line.dropping(prefix: "export ") {
                exports.append(Self.name(of: declaration))
                body += declaration
            } else {
                let code = Substring(line.utf8.drop { $0 == UInt8(ascii: " ") })
                if code.isEmpty || code.utf8.hasPrefix("//") { continue }
                body += addressed(code)
            }
            body += "\n"
        }
        let list = exports.joined(separator: ", ")
        script += "modules['\(name)'] = (() => {\n\(body)return { \(list) };\n})();\n"
        return (script, list)
    }

    /// Returns a line in which the name of the second script's module is replaced by the address of the script.
    private mutating func addressed(_ code: Substring) -> String {
        let parts = code.split(at: "'", omittingEmptySubsequences: false)
        return parts.map { text in
            guard let module = text.dropping(prefix: "./")?.dropping(suffix: ".js") else { return String(text) }
            let name = "\(module).js"
            precondition(second == nil || second == name, "a page has no more than two scripts")
            second = name
            return "./" + address(of: name)
        }.joined(separator: "'")
    }

    /// Returns the name under which the script of a module is served, which contains the version of the page.
    private func address(of module: String) -> String {
        "\(module.dropping(suffix: ".js") ?? "")-\(version).js"
    }

    /// Returns the declaration of the names that an import introduces: `{ a, b as c } from ` or `* as a from `.
    private static func binding(_ clause: Substring, of module: String) -> String {
        let words = clause.split(at: " ").dropLast()
        if let first = words.first, first.utf8.elementsEqual("*".utf8) {
            return "const \(words.last ?? "") = modules['\(module)'];"
        }
        let names = words.map { $0 == "as" ? ":" : String($0) }.joined(separator: " ")
        return "const \(names) = modules['\(module)'];"
    }

    /// Returns the name that a declaration declares.
    private static func name(of declaration: Substring) -> Substring {
        let words = declaration.split(at: " ").drop { ["async", "const", "function", "class"].contains($0) }
        let name = words.first ?? ""
        return Substring(name.utf8.prefix { $0 != UInt8(ascii: "(") && $0 != UInt8(ascii: "*") })
    }
}
