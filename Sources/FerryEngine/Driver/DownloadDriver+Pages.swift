import FerryCore
import Synchronization
import SystemPackage

/// Detects web pages that are served in place of files.
extension DownloadDriver {
    /// Returns the verdict on a response. Waits for its first bytes if only they tell whether it is a web page.
    func judge(
        _ response: inout TransferResponse, _ fetch: TransferMachine.Fetch, on id: ConnectionID
    ) async throws(TransferFailure) -> ResponseVerdict {
        let verdict = ResponseVerdict.judge(response.head, asked: fetch.ask, now: environment.clock.date())
        var beginsAPage = false
        if !request.trust.acceptsHTML, PagePolicy.mustLook(at: verdict) {
            state.withLock { $0.machine.awaitsFirstBytes(on: id, at: environment.clock.now()) }
            beginsAPage = try await response.body.beginsAPage()
        }
        return PagePolicy(givenName: request.givenName).judge(
            verdict, beginsAPage: beginsAPage, url: sources[fetch.source], finalURL: response.url)
    }
}

extension DownloadRequest {
    /// The file name that the user chose; `nil` if the server names the file.
    var givenName: String? {
        switch destination {
        case .file(let path): FilePath(path).lastComponent?.string
        case .part(let path): DownloadPaths(of: FilePath(path))?.name
        case .directory(_, .exact(let name)): name
        case .directory, .stream: nil
        }
    }
}
