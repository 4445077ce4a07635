/// Parameters and bodies of the routes, for the OpenAPI document.
extension Route {
    package struct QueryParameter: Sendable {
        package let name: String
        package let summary: String
        package let schema: JSONNode
    }

    /// The permitted query parameters.
    package var queryParameters: [QueryParameter] {
        let session = QueryParameter(
            name: "session", summary: "A session, or “all”; without, the client's own.", schema: ["type": "string"])
        func words(_ words: [String]) -> JSONNode { ["type": "string", "enum": .list(words.map { .text($0) })] }
        switch self {
        case .list:
            return [
                QueryParameter(
                    name: "state", summary: "States, by commas.",
                    schema: ["type": "string", "examples": ["waiting,downloading"]]),
                QueryParameter(
                    name: "search", summary: "A text in the name, the URL or the label.", schema: ["type": "string"]),
                QueryParameter(
                    name: "sort", summary: "By what.", schema: words(ListQuery.Sort.allCases.map(\.rawValue))),
                QueryParameter(
                    name: "order", summary: "Which way.", schema: words(ListQuery.Order.allCases.map(\.rawValue))),
                QueryParameter(
                    name: "offset", summary: "How many to leave out at the start.",
                    schema: ["type": "integer", "minimum": 0]),
                QueryParameter(
                    name: "limit", summary: "The most to give.",
                    schema: [
                        "type": "integer", "minimum": 1, "maximum": .number(FerryAPI.mostEntries), "default": 100,
                    ]),
                session,
            ]
        case .remove:
            return [
                QueryParameter(
                    name: "deleteFile", summary: "Delete a finished file too, unless it is another one by now.",
                    schema: ["type": "boolean", "default": false])
            ]
        case .settings, .changeSettings:
            return [
                QueryParameter(
                    name: "scope", summary: "The daemon's, or the session's own under them.",
                    schema: words(["daemon", "session"]))
            ]
        case .statistics: return [session]
        case .events:
            return [
                QueryParameter(
                    name: "after", summary: "As Last-Event-ID, for who cannot send that.", schema: ["type": "string"]),
                session,
            ]
        default: return []
        }
    }

    /// The schema of the request body; `nil` for none.
    package var requestSchema: JSONNode? {
        switch self {
        case .add: ["oneOf": [Self.reference("NewDownload"), Self.reference("NewDownloads")]]
        case .change: Self.reference("ChangeBody")
        case .move: Self.reference("MoveBody")
        case .relocate: Self.reference("RelocateBody")
        case .addResumeData: Self.reference("ResumeDataBody")
        case .adopt: Self.reference("AdoptBody")
        case .pauseMany, .resumeMany: Self.reference("SelectionBody")
        case .removeMany: Self.reference("RemovalBody")
        case .clear: Self.reference("ClearBody")
        case .plan: Self.reference("NewDownload")
        case .changeSettings: Self.reference("SettingsChange")
        case .attach: Self.reference("SessionRegistration")
        case .acknowledge: Self.reference("AcknowledgeBody")
        case .login: Self.reference("CodeBody")
        case .pause, .resume, .cancel, .restart, .keepResumeData, .makeCode, .remove, .withdraw, .detach:
            ["type": "object", "additionalProperties": false]
        default: nil
        }
    }

    /// Whether the request body may be omitted.
    package var isBodyOptional: Bool {
        switch self {
        case .pauseMany, .resumeMany, .pause, .resume, .cancel, .restart, .keepResumeData, .makeCode, .remove,
            .withdraw,
            .detach:
            true
        default: false
        }
    }

    /// The statuses of success.
    package var successes: [Int] {
        switch self {
        case .remove, .acknowledge, .detach, .withdraw: [204]
        case .add, .attach: [201, 200]
        case .addResumeData, .adopt, .makeCode: [201]
        default: [200]
        }
    }

    /// The schema of the response body; `nil` for none.
    package var responseSchema: JSONNode? {
        switch self {
        case .greeting: Self.reference("Greeting")
        case .openAPI: ["type": "object"]
        case .list: Self.reference("DownloadPage")
        case .add: ["oneOf": [Self.reference("ListedDownload"), Self.reference("DownloadItems")]]
        case .show: Self.reference("DownloadDetail")
        case .change, .addResumeData, .adopt: Self.reference("ListedDownload")
        case .pause, .resume, .cancel, .restart, .move, .relocate: Self.reference("ActionBody")
        case .keepResumeData: Self.reference("ResumeDataBody")
        case .history: Self.reference("EventItems")
        case .pauseMany, .resumeMany, .clear: Self.reference("CountBody")
        case .removeMany: Self.reference("RemovalItems")
        case .plan: Self.reference("PlanBody")
        case .settings, .changeSettings: Self.reference("SettingsBody")
        case .network: Self.reference("NetworkBody")
        case .statistics: Self.reference("StatisticsBody")
        case .storage: Self.reference("StorageBody")
        case .events:
            [
                "type": "string",
                "description": """
                Events by name: state, progress, removed, order, happened, settings, network, ended, upToDate, reset; \
                the data of each is one JSON object. All but progress, ended and upToDate have an id, BOOT-NUMBER.
                """,
            ]
        case .sessions: Self.reference("SessionItems")
        case .attach: Self.reference("SessionBody")
        case .login: Self.reference("TokenBody")
        case .makeCode: Self.reference("SignInBody")
        case .tokens: Self.reference("TokenItems")
        case .remove, .acknowledge, .detach, .withdraw: nil
        }
    }

    static func reference(_ name: String) -> JSONNode { ["$ref": .text("#/components/schemas/\(name)")] }
}
