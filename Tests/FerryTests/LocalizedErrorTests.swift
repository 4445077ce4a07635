import Ferry
import Foundation
import Testing

@Suite("Errors as Foundation shows them")
struct LocalizedErrorTests {
    @Test("Description, reason and suggestion come from the error, in the language of the process")
    func foundation() {
        let error = DownloadError(.network, "no way", suggestion: "Wait.", underlying: "ECONNREFUSED")
        let general: any Error = error
        #expect(general.localizedDescription == error.message(in: .current))
        #expect(general.localizedDescription.contains("no way"))
        #expect((general as? any LocalizedError)?.failureReason == "ECONNREFUSED")
        #expect((general as? any LocalizedError)?.recoverySuggestion == "Wait.")
        #expect(Language.current == Language(environment: ProcessInfo.processInfo.environment))
    }
}
