import Testing

@testable import FerryCore

@Suite("Names that mean something to Ferry")
struct ReservedNameTests {
    /// Names of each kind as Ferry makes them.
    static func names(_ kind: ReservedName) -> [String] {
        switch kind {
        case .part, .chromePart, .journal, .backup, .aria2Control, .own: ["a.zip" + kind.text, kind.text]
        case .digests: [".a.zip" + kind.text]
        case .manifest: [kind.text]
        case .draft:
            ReservedName.allCases.filter(\.isRecord).map { "a" + $0.text + kind.text }.filter { !$0.hasPrefix("af") }
        case .incoming: [kind.text + "0123"]
        case .sample: [kind.text + "0123.tmp"]
        }
    }

    /// Names that file systems may take for the same one: without case, with outer blanks and dots, with letters that are
    /// equal without case, canonically equivalent or left out.
    static func forms(_ name: String) -> [String] {
        let odd = ["\u{17F}": "s", "\u{FB06}": "st", "\u{131}": "i", "\u{212A}": "k"]
        var forms = [
            name, name.uppercased(), String(name.prefix(2)) + String(name.dropFirst(2)).uppercased(), name + ".",
            name + " ",
            name + ". .",
            name + "\u{3000}", "\u{200C}" + name, name + "\u{FEFF}", name.replacing("a", with: "a\u{AD}"),
        ]
        for (form, plain) in odd { forms.append(name.replacing(plain, with: form)) }
        return forms
    }

    @Test(
        "ReservedName: every kind is recognised in every form that a file system may take for it",
        arguments: ReservedName.allCases)
    func recognised(kind: ReservedName) {
        #expect(!Self.names(kind).isEmpty)
        for form in Self.names(kind).flatMap(Self.forms) {
            #expect(ReservedName(form) != nil, "\(form.unicodeScalars.map(\.value))")
            #expect(!kind.isRecord || ReservedName.record(form) != nil, "\(form)")
        }
    }

    @Test(
        "SafeName: no form of any name that means something to Ferry is left to a server",
        arguments: ReservedName.allCases)
    func harmless(kind: ReservedName) throws {
        for form in Self.names(kind).flatMap(Self.forms) {
            let long = String(repeating: "x", count: 300) + form
            for given in [form, "d/" + form, form + ".", " " + form, long] {
                for name in [
                    SafeName.sanitize(given), SafeName.make(given, url: try DownloadURL("http://h/x"), finalURL: nil),
                ] {
                    guard let name else { continue }
                    #expect(ReservedName(name) == nil, "\(given) is \(name)")
                    #expect(SafeName.sanitize(name) == name)
                    #expect(ReservedName(SafeName.numbered(name, 2)) == nil)
                }
            }
        }
        #expect(SafeName.sanitize("ferry-manifest.jsonl") == "ferry-manifest.jsonl_")
        #expect(SafeName.sanitize("Report.PDF.Aria2") == "Report.PDF.Aria2_")
    }

    @Test(
        "SafeName: names that only look like those of Ferry's files stay",
        arguments: ["party", "a.news", "aria2", "ferry-manifest.json", "x.new", "a.aria2c", "digests"])
    func others(name: String) { #expect(SafeName.sanitize(name) == name) }

    @Test("Requests: the user's name of a record is refused as file, exact name and part file; other names are used")
    func requests() throws {
        for kind in ReservedName.allCases {
            for form in Self.names(kind).flatMap(Self.forms) {
                for destination in [
                    .file("/d/" + form), .directory("/d", name: .exact(form)), .part("/d/" + form + ".part"),
                ] as [DownloadRequest.Destination] {
                    let request = DownloadRequest(sources: [try DownloadURL("http://h/x")], destination: destination)
                    if ReservedName.record(form) != nil {
                        let error = #expect(throws: DownloadError.self, "\(destination)") { try request.checkValues() }
                        #expect(error?.code == .invalidRequest && error?.message.contains("records of Ferry") == true)
                    } else {
                        #expect(throws: Never.self, "\(destination)") { try request.checkValues() }
                    }
                }
            }
        }
    }

    @Test("Metalink: a document names no file that means something to Ferry", arguments: ReservedName.allCases)
    func metalink(kind: ReservedName) throws {
        for name in Self.names(kind).flatMap({ [$0, "d/" + $0, $0.uppercased()] }) {
            let text = """
                <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="\(name)"><url>http://a/f</url></file></metalink>
                """
            for case .entry(let entry) in try Metalink(parsing: Array(text.utf8)).items {
                #expect(ReservedName(Paths.name(of: entry.out ?? "")) == nil, "\(entry.out ?? "")")
            }
        }
    }
}
