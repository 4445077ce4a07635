import FerryCore
package import HTTPTypes

/// The table of all routes, used for the daemon's routing, the clients' paths and the OpenAPI document, which describes each of
/// them under its name.
public enum Route: String, Sendable, Hashable, CaseIterable {
    case greeting, openAPI
    case list, add, show, change, remove
    case pause, resume, cancel, restart, move, relocate, keepResumeData, addResumeData, history,
        content, contentLink
    case adopt, find, pauseMany, resumeMany, cancelMany, restartMany, removeMany, changeMany, moveMany, clear
    case plan, settings, changeSettings, network, statistics, storage
    case sets, addSet, showSet, removeSet, pauseSet, resumeSet, cancelSet
    case gateway, gatewayFiles, purgeGateway, verifyGateway
    case events
    case sessions, attach, acknowledge
    case login, makeCode, tokens, withdraw

    package var method: HTTPRequest.Method {
        switch self {
        case .greeting, .openAPI, .list, .show, .history, .content, .settings, .network, .statistics, .storage, .events,
            .sessions, .tokens, .sets, .showSet, .gateway, .gatewayFiles:
            .get
        case .change, .changeSettings: .patch
        case .remove, .removeSet, .withdraw: .delete
        default: .post
        }
    }

    /// The path below ``FerryAPI/root``; `{id}` is the identifier of a download, set or token, `{session}` the identifier of a
    /// session, each percent-encoded.
    package var template: String {
        switch self {
        case .greeting: ""
        case .openAPI: "/openapi.json"
        case .list, .add: "/downloads"
        case .show, .change, .remove: "/downloads/{id}"
        case .pause: "/downloads/{id}/pause"
        case .resume: "/downloads/{id}/resume"
        case .cancel: "/downloads/{id}/cancel"
        case .restart: "/downloads/{id}/restart"
        case .move: "/downloads/{id}/move"
        case .relocate: "/downloads/{id}/relocate"
        case .keepResumeData: "/downloads/{id}/resume-data"
        case .addResumeData: "/downloads/resume-data"
        case .history: "/downloads/{id}/events"
        case .content: "/downloads/{id}/content"
        case .contentLink: "/downloads/{id}/content-link"
        case .adopt: "/downloads/adopt"
        case .find: "/downloads/find"
        case .pauseMany: "/downloads/pause"
        case .resumeMany: "/downloads/resume"
        case .cancelMany: "/downloads/cancel"
        case .restartMany: "/downloads/restart"
        case .removeMany: "/downloads/remove"
        case .changeMany: "/downloads/change"
        case .moveMany: "/downloads/move"
        case .clear: "/downloads/clear"
        case .plan: "/plan"
        case .settings, .changeSettings: "/settings"
        case .network: "/network"
        case .statistics: "/statistics"
        case .storage: "/storage"
        case .sets, .addSet: "/sets"
        case .showSet, .removeSet: "/sets/{id}"
        case .pauseSet: "/sets/{id}/pause"
        case .resumeSet: "/sets/{id}/resume"
        case .cancelSet: "/sets/{id}/cancel"
        case .gateway: "/gateway"
        case .gatewayFiles: "/gateway/files"
        case .purgeGateway: "/gateway/purge"
        case .verifyGateway: "/gateway/verify"
        case .events: "/events"
        case .sessions, .attach: "/sessions"
        case .acknowledge: "/sessions/{session}/acknowledge"
        case .login: "/login"
        case .makeCode: "/codes"
        case .tokens: "/tokens"
        case .withdraw: "/tokens/{id}"
        }
    }

    /// Whether the route is available over the Unix socket only. Over TCP, the daemon responds with 403.
    package var isLocalOnly: Bool {
        switch self {
        case .relocate, .keepResumeData, .addResumeData, .adopt, .storage, .sessions, .attach, .acknowledge,
            .makeCode, .gateway, .gatewayFiles, .purgeGateway, .verifyGateway:
            true
        default: false
        }
    }

    /// The maximum size of a request body in bytes; larger bodies are refused with 413 and not read.
    package var mostBytes: Int {
        switch self {
        case .add, .addResumeData: 16 << 20
        case .find, .pauseMany, .resumeMany, .cancelMany, .restartMany, .removeMany, .changeMany, .moveMany, .plan,
            .change:
            4 << 20
        case .acknowledge: 1 << 20
        case .attach: 256 << 10
        case .move, .relocate, .adopt, .changeSettings, .addSet, .purgeGateway: 64 << 10
        default: 4 << 10
        }
    }

    /// Whether the daemon responds at once, without waiting for a download, a server or a directory.
    package var isQuick: Bool { method == .get && ![.storage, .content, .gateway, .gatewayFiles].contains(self) }

    /// Whether the route responds to a request with this method.
    private func serves(_ method: HTTPRequest.Method) -> Bool {
        method == self.method || method == .head && self == .content
    }

    /// Whether the route needs no token over TCP.
    package var isOpen: Bool { self == .login }

    /// Returns the whole path, with these values in place of `{id}` and `{session}`.
    package func path(id: String = "", session: String = "") -> String {
        var path = FerryAPI.root
        for part in template.split(at: "/") {
            path += "/"
            switch part {
            case "{id}": path += Self.encoded(id)
            case "{session}": path += Self.encoded(session)
            default: path += part
            }
        }
        return path
    }

    /// Percent-encodes a text as one path segment or query value.
    package static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + String(UInt16(byte) + 0x100, radix: 16, uppercase: true).dropFirst()
            }
        }
        return encoded
    }
}

extension Route {
    /// The result of matching a path below ``FerryAPI/root``.
    package enum Match: Sendable, Hashable {
        /// The route and the decoded identifier in its path, which is empty if the path has none.
        case found(Route, identifier: String)
        /// The path exists with these methods.
        case wrongMethod([HTTPRequest.Method])
        case none
    }

    /// Matches a percent-encoded path without query. Literal segments take precedence over identifiers.
    package static func match(_ method: HTTPRequest.Method, _ path: Substring) -> Match {
        let parts = path.split(at: "/", omittingEmptySubsequences: false).dropFirst()
        var allowed: [HTTPRequest.Method] = []
        var found: (route: Route, identifier: String)?
        for route in allCases {
            guard let identifier = route.identifier(in: parts) else { continue }
            if !route.serves(method) {
                if !allowed.contains(route.method) { allowed.append(route.method) }
            } else if found == nil || !route.template.utf8.contains("{") {
                found = (route, identifier)
            }
        }
        if let found { return .found(found.route, identifier: found.identifier) }
        return allowed.isEmpty ? .none : .wrongMethod(allowed)
    }

    /// Returns the identifier in a path of this template; `nil` if the path does not match.
    private func identifier(in parts: some Collection<Substring>) -> String? {
        let own = template.split(at: "/")
        guard own.count == parts.count else { return nil }
        var identifier = ""
        for (word, part) in zip(own, parts) {
            if word == "{id}" || word == "{session}" {
                guard let text = Self.decoded(part), !text.isEmpty else { return nil }
                identifier = text
            } else if word != part {
                return nil
            }
        }
        return identifier
    }

    /// Percent-decodes a path segment or query value; `nil` when it is malformed.
    package static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
