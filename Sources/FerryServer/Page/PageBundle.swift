import FerryCore

/// The page's modules as one script: a browser far away sends one request in place of fifty.
///
/// Each module becomes a function that is called once, after those that it imports:
/// `modules["a.js"] = (() => { …; return { …its exports }; })();`. The modules keep to what is read here: an import is one line,
/// `import { a, b as c } from './x.js';` or `import * as a from './x.js';`, a declaration is exported where it stands, and no text
/// goes on over a line. Lines of comments and the blanks before a line are left out: a sixth of what a browser waits for. Pure.
struct PageBundle {
    private let files: [String: [UInt8]]
    private var script = "const modules = {};\n"
    private var included: Set<String> = []

    /// Returns the script of a module and of all that it imports. `files` are the contents by path.
    static func script(_ files: [String: [UInt8]], from entry: String) -> [UInt8] {
        var bundle = PageBundle(files: files)
        bundle.include(entry)
        return Array((bundle.script + "export { modules };\n").utf8)
    }

    private init(files: [String: [UInt8]]) { self.files = files }

    private mutating func include(_ name: String) {
        guard included.insert(name).inserted, let bytes = files["/" + name] else { return }
        var body = ""
        var exports: [Substring] = []
        for line in String(decoding: bytes, as: UTF8.self).split(at: "\n", omittingEmptySubsequences: false) {
            if let rest = line.dropping(prefix: "import ") {
                let parts = rest.split(at: "'")
                let module = String(parts[1].dropping(prefix: "./") ?? parts[1])
                include(module)
                body += Self.binding(parts[0], of: module)
            } else if let declaration = line.dropping(prefix: "export ") {
                exports.append(Self.name(of: declaration))
                body += declaration
            } else {
                let code = Substring(line.utf8.drop { $0 == UInt8(ascii: " ") })
                if code.isEmpty || code.utf8.hasPrefix("//") { continue }
                body += code
            }
            body += "\n"
        }
        script += "modules['\(name)'] = (() => {\n\(body)return { \(exports.joined(separator: ", ")) };\n})();\n"
    }

    /// Returns the declaration of what an import brings: `{ a, b as c } from ` or `* as a from `.
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
