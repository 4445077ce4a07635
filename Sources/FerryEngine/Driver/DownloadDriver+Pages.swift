import FerryCore
import Synchronization
import SystemPackage

/// Web pages in place of files.
extension DownloadDriver {
    /// What a response means by itself. Where only the first bytes tell whether it is a page, they are waited for.
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
    /// The name that the user gave to the file; `nil` where the server names it.
    var givenName: String? {
        switch destination {
        case .file(let path): FilePath(path).lastComponent?.string
        case .part(let path): DownloadPaths(of: FilePath(path))?.name
        case .directory(_, .exact(let name)): name
        case .directory, .stream: nil
        }
    }
}
