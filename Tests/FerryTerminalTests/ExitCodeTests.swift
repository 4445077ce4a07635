import Ferry
import FerryTerminal
import Testing

@Suite("Exit codes") struct ExitCodeTests {
    private static let codes: [(DownloadError.Code, Int32)] = [
        (.invalidRequest, 2), (.network, 3), (.refused, 4), (.tooLarge, 4), (.unproven, 4),
        (.freshLink, 5), (.credentials, 5), (.remoteChanged, 6), (.checksum, 7), (.disk, 8), (.diskFull, 8),
        (.conflict, 9), (.wrongState, 9), (.duplicate, 9), (.certificate, 10), (.daemonUnavailable, 11), (.notFound, 2),
        (.internal, 1), (.cancelled, 1), (.shutDown, 1),
        (DownloadError.Code(rawValue: "somethingNew"), 1),
    ]

    @Test("ExitCode: every error code has its exit code", arguments: codes)
    func hasCode(code: DownloadError.Code, expected: Int32) {
        #expect(ExitCode.of(DownloadError(code, "x")).rawValue == expected)
    }

    @Test("ExitCode: of several files the gravest counts: 130/143, 1, 11, 8, 7, 6, 10, 5, 4, 3, 9, then 2")
    func precedence() {
        #expect(ExitCode.precedence.map(\.rawValue) == [130, 143, 1, 11, 8, 7, 6, 10, 5, 4, 3, 9, 2])
        #expect(ExitCode.combine([]) == .done)
        #expect(ExitCode.combine([.done, .conflict, .network]) == .network)
        #expect(ExitCode.combine([.checksum, .disk, .refused]) == .disk)
        #expect(ExitCode.combine([.certificate, .remoteChanged]) == .remoteChanged)
        #expect(ExitCode.combine([.usage, .conflict]) == .conflict)
        #expect(Set(ExitCode.precedence).union([.done]) == Set(ExitCode.allCases))
    }

    @Test("ExitCode: the help lists every code with its meaning")
    func help() {
        for code in ExitCode.allCases { #expect(ExitCode.help.contains("  \(code.rawValue)  \(code.meaning)")) }
    }

    @Test("ErrorText: a dead link and missing credentials give the command that continues the download")
    func commands() {
        let link = DownloadError(.freshLink, "the link is dead")
        let credentials = DownloadError(.credentials, "who are you")
        #expect(ErrorText.command(after: link, part: "/d/a b.part", url: "u") == "ferry get '/d/a b.part' NEWURL")
        #expect(ErrorText.command(after: link, part: nil, url: "u") == "ferry get NEWURL")
        #expect(ErrorText.command(after: credentials, part: "a.part", url: "u") == "ferry get --user USER a.part")
        #expect(
            ErrorText.command(after: credentials, part: nil, url: "http://h/f") == "ferry get --user USER http://h/f")
        #expect(ErrorText.command(after: DownloadError(.network, "x"), part: "a.part", url: "u") == nil)
        let line = ErrorText.line(link, name: "a\u{1B}.iso", command: "ferry get a.part NEWURL")
        #expect(line == "a\\x1b.iso: the link is dead; to resume: ferry get a.part NEWURL")
    }

    @Test("ErrorText: an error is one line with its cause and suggestion")
    func errorLine() {
        let error = DownloadError(
            .network, "no way to h", suggestion: "try again later", underlying: "Connection\nrefused")
        #expect(ErrorText.line(error, name: "f.iso") == "f.iso: no way to h: Connection\\nrefused; try again later")
        #expect(
            ErrorText.line(DownloadError(.disk, "f.iso cannot be written"), name: "f.iso") == "f.iso cannot be written")
    }
}
