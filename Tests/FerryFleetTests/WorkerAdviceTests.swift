import ArgumentParser
import FerryCore
@testable import FerryFleet
import FerryTerminal
import Testing

@Suite("Advice of a worker") struct WorkerAdviceTests {
    private static let options = OptionAdvice.options(of: WorkArguments.helpMessage(columns: 400))

    @Test(
        "WorkerAdvice: no suggestion names an option that ferry work does not have", arguments: ErrorPhrase.Key.allCases
    )
    func suggestions(key: ErrorPhrase.Key) {
        for code in [DownloadError.Code.refused, .conflict] {
            let error = DownloadError(code, "bad").suggesting(ErrorPhrase(key, "f", "g", "h"))
            let line = ErrorText.line(WorkerAdvice.advised(error), name: "")
            #expect(line.utf8.hasPrefix("bad"))
            #expect(OptionAdvice.options(in: line).isSubset(of: Self.options), "\(key): \(line)")
            guard let own = WorkerAdvice.suggestion(for: error) else { continue }
            let chinese = own.text(in: .simplifiedChinese)
            #expect(OptionAdvice.options(in: chinese).isSubset(of: Self.options), "\(key): \(chinese)")
            if case .pattern(let english, _) = own { #expect(chinese != english) }
        }
    }

    @Test("WorkerAdvice: what ferry work can do is suggested, and an error without a suggestion gets none")
    func own() {
        #expect(Self.options.isSuperset(of: ["--header", "--header-server", "--allow-private", "-j", "--parallel"]))
        func line(_ error: DownloadError) -> String { ErrorText.line(WorkerAdvice.advised(error), name: "") }
        let bad = DownloadError(.refused, "bad")
        #expect(
            line(bad.suggesting(ErrorPhrase(.allowPrivate)))
                == "bad; if this address is meant, allow it with --allow-private")
        #expect(line(bad.suggesting(ErrorPhrase(.runAgain))) == "bad; ferry fleet retry requests it again")
        #expect(line(bad.suggesting(ErrorPhrase(.setDate))).contains("date of this machine"))
        #expect(line(bad.suggesting(ErrorPhrase(.allowDowngrade))) == "bad")
        #expect(line(DownloadError(.conflict, "bad")) == "bad")
    }

    /// `ferry work --cacert` advised `--ca-file`, and `--split` `-x`.
    @Test("OptionAdvice: for an option of another downloader, only one that ferry work has is advised")
    func parsed() {
        let help = WorkArguments.helpMessage(columns: 400)
        for name in OptionAdvice.names where !Self.options.contains(name) {
            let text = OptionAdvice.improve("Unknown option '\(name)'", help: help).description
            let advised = OptionAdvice.options(in: text).subtracting([name])
            #expect(advised.isSubset(of: Self.options), "\(text)")
        }
        #expect(OptionAdvice.improve("Unknown option '--tries'", help: help).description.hasSuffix("use --retries N"))
    }
}
