import FerryCore
import FerryTerminal
import Testing

@Suite("NameTemplate") struct NameTemplateTests {
    private static func path(
        _ template: String, _ url: String = "https://example.com/a/b/c.tar.gz?x=1"
    ) throws -> String {
        try NameTemplate(parsing: template).path(for: DownloadURL(url), line: 7, number: 9)
    }

    @Test("NameTemplate: each field is that of the URL or of the entry")
    func fields() throws {
        #expect(try Self.path("{host}/{path}/{name}") == "example.com/a/b/c.tar.gz")
        #expect(try Self.path("{stem}-{line}-{n}{ext}") == "c-7-9.tar.gz")
        let digest = "7df3759511c98c511f82f674b4e3d4d31af2b44f50f56d184fe5a24b015ed5c3"
        #expect(try Self.path("{url-sha256}") == digest)
        #expect(try Self.path("{url-sha256:2}/{url-sha256:64}{ext}") == "7d/\(digest).tar.gz")
        #expect(try Self.path("{{{name}}}") == "{c.tar.gz}")
        #expect(try Self.path("x-{path}-y/{name}") == "x-a/b-y/c.tar.gz")
        #expect(try Self.path("{path}/{name}", "http://h/") == "download")
        #expect(try Self.path("{host}/{name}", "http://[::1]:80/f") == "__1/f")
    }

    @Test(
        "NameTemplate: no URL gives a path that leaves the directory, is hidden or controls the terminal",
        arguments: [
            "http://h/%2e%2e/%2e%2e/etc/passwd", "http://h/..%2f..%2fetc%2fpasswd/f", "http://h/.git/.config",
            "http://h/%00%1b%5b2J/%0a", "http://h/a%5c..%5cb/c%5cd", "http://h/con/nul", "http://h/%E2%80%AE/x",
            "http://h/x.part/y.part", "http://h//////f", "http://h/%20/%20",
        ])
    func hostile(url: String) throws {
        for template in ["{path}/{name}", "{path}{name}", "{path}/.{name}", "{host}{path}/{stem}{ext}", ".{path}/x"] {
            let path = try Self.path(template, url)
            for component in path.split(separator: "/", omittingEmptySubsequences: false) {
                #expect(SafeName.sanitize(String(component)) == String(component), "\(template): \(path)")
            }
        }
    }

    @Test("NameTemplate: names by content have the digest of the file in full, and no field of the entry")
    func content() throws {
        let digest = String(repeating: "ab", count: 32)
        let url = try DownloadURL("http://h/d/x.jpg")
        func path(_ text: String) throws -> String {
            try NameTemplate(parsing: text, isOfContent: true).path(for: url, content: digest)
        }
        #expect(try path("{sha256:2}/{sha256}{ext}") == "ab/\(digest).jpg")
        #expect(try path("{host}/{sha256}") == "h/\(digest)")
        for (text, message) in [
            ("{sha256:63}", "--dedup: --name needs {sha256}, so that each content has a name of its own"),
            ("{sha256}-{line}", "--dedup: {line} in --name would give each entry a file of its own"),
            ("{n}/{sha256}", "--dedup: {n} in --name would give each entry a file of its own"),
            ("{sha256:0}/{sha256}", "--name {sha256:0}/{sha256}: {sha256:…} takes 1 to 64 digits"),
        ] {
            let error = #expect(throws: UsageError.self) { try path(text) }
            #expect(error?.message == message)
        }
    }

    @Test("NameTemplate: a path that is too long is an error of its entry")
    func long() throws {
        let error = #expect(throws: UsageError.self) {
            try Self.path("{path}/{name}", "http://h/" + String(repeating: "abcdefgh/", count: 300) + "f")
        }
        #expect(error?.message == "--name gives a path of more than 2048 bytes")
    }

    @Test(
        "NameTemplate: a usage error names the template, what is wrong and what there is",
        arguments: [
            (
                "{foo}",
                "there is no field {foo}; there are {host}, {path}, {name}, {stem}, {ext}, {line}, {n}, {url-sha256}, {url-sha256:DIGITS}"
            ),
            (
                "{sha256:2}",
                "{sha256:2} is known only after the download and needs --dedup; {url-sha256} is that of the URL"
            ),
            ("{url-sha256:0}", "{url-sha256:…} takes 1 to 64 digits"),
            ("{url-sha256:65}", "{url-sha256:…} takes 1 to 64 digits"),
            ("{url-sha256:+1}", "{url-sha256:…} takes 1 to 64 digits"),
            ("{name", "a brace is not closed; {{ stands for a brace"),
            ("name}", "a brace is not closed; {{ stands for a brace"),
            ("/{name}", "write a path below the directory, without .. and without / at its start or end"),
            ("{name}/", "write a path below the directory, without .. and without / at its start or end"),
            ("../{name}", "write a path below the directory, without .. and without / at its start or end"),
            ("", "write a path below the directory, without .. and without / at its start or end"),
        ])
    func errors(template: String, message: String) {
        let error = #expect(throws: UsageError.self) { try NameTemplate(parsing: template) }
        #expect(error?.message == "--name \(template): \(message)")
    }
}
