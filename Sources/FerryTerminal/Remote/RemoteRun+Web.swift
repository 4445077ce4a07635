import Ferry
import FerryAPI
import FerryClient
import FerryCore

/// Commands for the web page and the signed-in browsers.
extension RemoteRun {
    /// Runs `ferry web`: opens the page in a browser with a one-time code.
    ///
    /// - Parameter open: Opens a file in a browser. Returns false on failure.
    package func web(open: (String) -> Bool) async throws -> ExitCode {
        let made = try await link.ask(.makeCode, as: SignInBody.self)
        guard let url = made.url else {
            throw UsageError("the daemon serves no page (--no-loopback, or loopback=false in its settings)")
        }
        if json {
            say(PageAddress(url: url))
        } else if let file = made.file, open(file) {
            // Sandboxed browsers may be unable to read the file. The address may be shown, because a terminal is private
            // to its user.
            if width != nil { say(("If the page does not open, go to \(url) within a minute." as Reason).local) }
        } else {
            say(url)
        }
        return .done
    }

    private struct PageAddress: Encodable { var url: String }

    /// Runs `ferry web --list`.
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

    /// Runs `ferry web --withdraw`. Withdraws nothing if any identifier is unknown.
    package func signOut(_ words: [String]) async throws -> ExitCode {
        let items = try await browsers()
        let chosen = words == ["all"] ? items.map(\.id) : words
        for word in chosen where !items.contains(where: { $0.id == word }) {
            throw DownloadError(
                .notFound, ErrorPhrase(.noToken, ForeignText.quote(word)), suggestion: ErrorPhrase(.listTokens),
                recovery: .needsUser)
        }
        for item in items where chosen.contains(item.id) {
            _ = try await link.ask(.withdraw, id: item.id, as: Nothing.self)
            if json { say(item) } else { say(("signed out: \(item.id + "  " + item.name)" as Reason).shown) }
        }
        return .done
    }

    private func browsers() async throws(DownloadError) -> [TokenItem] {
        try await link.ask(.tokens, as: TokenItems.self).items
    }

    private struct Nothing: Decodable, Sendable {}
}
