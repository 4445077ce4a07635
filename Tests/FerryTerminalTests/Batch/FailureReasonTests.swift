import FerryCore
import FerryTerminal
import Testing

@Suite("FailureReason") struct FailureReasonTests {
    @Test("FailureReason: a time-out is one at any depth, and a status is that of the server's answer")
    func words() {
        let late = DownloadError(
            .network, ErrorPhrase(.gaveUp, "3", ErrorPhrase(.noAnswerInTime, "http://h/404")))
        #expect(FailureReason(late).word == "timeout")
        #expect(FailureReason(late).httpStatus == nil)
        let busy = DownloadError(.refused, ErrorPhrase(.gaveUp, "404", ErrorPhrase(.serverAnswered, "503")))
        #expect(FailureReason(busy).word == "refused")
        #expect(FailureReason(busy).httpStatus == 503)
        #expect(FailureReason(DownloadError(.diskFull, "full")).word == "diskFull")
    }
}
