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
}
