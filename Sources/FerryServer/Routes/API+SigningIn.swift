import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore
import Logging

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Issuing, listing and withdrawing tokens.
extension API {
    /// Returns an address that opens the page signed in, once and within a minute; `nil` if loopback is off.
    func signInAddress() -> String? {
        addresses.port.map { page(codes.make(at: .sinceStart).text, port: $0) }
    }

    private func page(_ code: String, port: Int) -> String { "http://127.0.0.1:\(port)/#code=\(code)" }

    func makeCode(_ call: APIRequest) async throws -> Response {
        _ = try await readIfPresent(NothingBody.self, of: call)
        func page(_ code: String) -> String? { addresses.port.map { self.page(code, port: $0) } }
        let (code, file) = codes.make(at: .sinceStart) { code in
            guard let page = page(code) else { return nil }
            do throws(DownloadError) { return try SignInFile.make(leadingTo: page, in: signInDirectory) } catch {
                logger.warning("no file can lead to the page", metadata: ["error": "\(error.message)"])
                return nil
            }
        }
        return try Answer.json(SignInBody(code: code, url: page(code), file: file?.path), status: .created)
    }

    func login(_ call: APIRequest) async throws -> Response {
        let code = try await read(CodeBody.self, of: call).code
        guard codes.redeem(code, at: .sinceStart) else {
            throw Problem(.unauthorized, "The code is wrong, used or too old. Run ferry web for a new one.")
        }
        let name = BrowserName.name(of: call.http.headers[.userAgent])
        let (grant, withdrawn) = try await tokens.make(named: name, at: Date())
        connections.close(tokens: withdrawn)
        return try Answer.json(TokenBody(id: grant.id, token: grant.token))
    }

    func listTokens(_ call: APIRequest) throws -> Response {
        _ = try call.items([])
        return try Answer.json(TokenItems(tokens.list(own: call.token, at: Date())))
    }

    func withdraw(_ call: APIRequest) async throws -> Response {
        // Closes the connections even if the file cannot be written, because the token is no longer valid.
        defer { connections.close(tokens: [call.identifier]) }
        guard try await tokens.withdraw(call.identifier) else {
            throw DownloadError(
                .notFound, ErrorPhrase(.noToken, ForeignText.quote(call.identifier)),
                suggestion: ErrorPhrase(.listTokens), recovery: .needsUser)
        }
        return Answer.nothing
    }
}
