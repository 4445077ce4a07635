import Ferry
import Foundation
import Testing

@Suite("Errors as Foundation's LocalizedError")
struct LocalizedErrorTests {
    @Test("DownloadError: Foundation shows its description, reason and suggestion in the process's language")
    func foundation() {
        let error = DownloadError(.network, "no way", suggestion: "Wait.", underlying: "ECONNREFUSED")
        let general: any Error = error
        #expect(general.localizedDescription == error.message(in: .current))
        #expect(general.localizedDescription.contains("no way"))
        #expect((general as? any LocalizedError)?.failureReason == "ECONNREFUSED")
        #expect((general as? any LocalizedError)?.recoverySuggestion == "Wait.")
        let named = DownloadError(.certificate, ErrorPhrase(.noURL), suggestion: ErrorPhrase(.keptMarked, "/a.part"))
        #expect(
            (named as any LocalizedError).recoverySuggestion
                == ErrorPhrase(.keptMarked, "/a.part").textForApps(in: .current))
        #expect(Language.current == Language(environment: ProcessInfo.processInfo.environment))
    }
}
