import Ferry
import FerryAPI
import FerryCore
import Foundation

/// The page, and the browsers that are signed in.
extension RemoteRun {
    /// `ferry web`: leads a browser to the page, with a code that lets in once.
    ///
    /// - Parameter open: Opens a file in a browser; false when it cannot.
    package func web(open: (String) -> Bool) async throws -> ExitCode {
        guard link.greeting.port != nil else {
            throw UsageError("the daemon serves no page (--no-loopback, or loopback=false in its settings)")
        }
        let made = try await link.ask(DaemonCall(.makeCode), as: SignInBody.self)
        guard let url = made.url else { throw UsageError("the daemon serves no page yet") }
        if json {
            say(PageAddress(url: url))
        } else if let file = made.file, open(file) {
            // Browsers in a sandbox of their own may read no file of this kind. A terminal is its user's alone.
            if width != nil { say("If the page does not open, go to \(url) within a minute.") }
        } else {
            say(url)
        }
        return .done
    }

    private struct PageAddress: Encodable { var url: String }

    /// `ferry web --list`.
    package func listBrowsers() async throws -> ExitCode {
        for item in try await browsers() {
            if json {
                say(item)
            } else {
                say(PrintableText.escape("\(item.id)  \(RFC3339.text(item.lastUsed))  \(item.name)"))
            }
        }
        return .done
    }

    /// `ferry web --withdraw`: every one of these, or none where one is not known.
    package func signOut(_ words: [String]) async throws -> ExitCode {
        let items = try await browsers()
        let chosen = words == ["all"] ? items.map(\.id) : words
        for word in chosen where !items.contains(where: { $0.id == word }) {
            throw DownloadError(
                .notFound, ErrorPhrase(.noToken, APIText.quote(word)), suggestion: ErrorPhrase(.listTokens),
                recovery: .needsUser)
        }
        for item in items where chosen.contains(item.id) {
            _ = try await link.ask(.withdraw, id: item.id, as: Nothing.self)
            if json { say(item) } else { say(PrintableText.escape("signed out: \(item.id)  \(item.name)")) }
        }
        return .done
    }

    private func browsers() async throws(DownloadError) -> [TokenItem] {
        try await link.ask(.tokens, as: TokenItems.self).items
    }

    private struct Nothing: Decodable, Sendable {}
}
