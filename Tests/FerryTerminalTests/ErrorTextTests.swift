import Ferry
import FerryTerminal
import Testing

@Suite("Failures in words") struct ErrorTextTests {
    @Test("a suggestion is a part of the one line: no capital, no full stop")
    func suggestion() {
        let error = DownloadError(.network, "gave up", suggestion: "Run it again to go on.")
        #expect(ErrorText.line(error, name: "f") == "f: gave up; run it again to go on")
    }

    @Test("a conflict without words of its own says what can be done")
    func conflict() {
        let line = ErrorText.line(DownloadError(.conflict, "/d/f is there already"), name: "f")
        #expect(line.hasPrefix("/d/f is there already; "))
        #expect(line.contains("--on-conflict"))
    }

    @Test("the command after missing credentials names the URL only where it is shown whole")
    func command() {
        let error = DownloadError(.credentials, "401")
        #expect(ErrorText.command(after: error, part: nil, url: "http://h/f") == "ferry get --user USER http://h/f")
        // With its query hidden, what was printed could not be typed.
        #expect(ErrorText.command(after: error, part: nil, url: "http://h/f?…") == "ferry get --user USER URL")
        #expect(ErrorText.command(after: error, part: "/d/f.part", url: nil) == "ferry get --user USER /d/f.part")
    }
}
