import FerryCore

extension APISchemas {
    static var answers: [Named] {
        [
            answer(
                "Greeting",
                [
                    ("api", count), ("minimum", count), ("version", text), ("pid", count), ("session", text),
                    ("boot", text), ("port", optionalCount), ("confinement", optional("ConfinementBody")),
                ]),
            answer(
                "ConfinementBody",
                [
                    ("directories", texts),
                    ("gaps", ["type": "array", "items": words(ConfinementBody.Gap.allCases.map(\.rawValue))]),
                ]),
            answer("Translations", [("en", text), ("zh", text)]),
            answer(
                "ErrorBody",
                [
                    ("code", text), ("message", text), ("suggestion", text), ("underlying", text),
                    ("recovery", ["type": "object"]), ("phrase", phrase), ("suggestionPhrase", phrase),
                    ("messages", Route.reference("Translations")), ("suggestions", Route.reference("Translations")),
                ],
                optional: ["suggestion", "underlying", "recovery", "phrase", "suggestionPhrase", "suggestions"]),
            answer("ProgressBody", progress),
            answer("ListedDownload", download, optional: ["handle"]),
            answer("DownloadPage", [("items", list("ListedDownload")), ("total", count), ("offset", count)]),
            answer("DownloadItems", [("items", list("ListedDownload"))]),
            answer(
                "Segment",
                [
                    ("start", bytes), ("end", bytes), ("state", words(["done", "running", "missing"])),
                    ("connection", optionalCount),
                ]),
            answer("Response", [("type", optionalText), ("finalURL", optionalText), ("lastModified", optionalText)]),
            answer(
                "DownloadDetail",
                download + [
                    ("sources", texts), ("headers", texts), ("segments", list("Segment")),
                    ("response", Route.reference("Response")), ("speeds", ["type": "array", "items": bytes]),
                ], optional: ["handle"]),
            answer("ActionBody", [("changed", flag), ("download", Route.reference("ListedDownload"))]),
            answer("CountBody", [("changed", count)]),
            answer("Removal", [("id", text), ("removed", flag), ("error", optional("ErrorBody"))]),
            answer("RemovalItems", [("items", list("Removal"))]),
            answer(
                "EventBody",
                [
                    ("id", text), ("session", text), ("date", time), ("number", optionalCount),
                    ("texts", Route.reference("Translations")), ("kind", words(kinds)), ("url", text), ("name", text),
                    ("totalBytes", bytes), ("offset", bytes), ("reason", text), ("attempt", count), ("delay", seconds),
                    ("wait", ["type": "object"]), ("message", text), ("text", text), ("file", ["type": "object"]),
                    ("error", ["type": "object"]), ("phrase", phrase),
                ],
                optional: [
                    "url", "name", "totalBytes", "offset", "reason", "attempt", "delay", "wait", "message", "text",
                    "file", "error", "phrase",
                ]),
            answer("EventItems", [("items", list("EventBody"))]),
            answer(
                "SettingsBody",
                [
                    ("scope", words(["daemon", "session"])), ("maxConcurrentDownloads", optionalCount),
                    ("rateLimit", optionalBytes), ("connectionsPerHost", optionalCount),
                    ("allowsMetered", optionalFlag),
                    ("allowsConstrained", optionalFlag),
                    ("networkAssumption", optionalWords(["metered", "unmetered"])),
                    ("retriesFailedAfter", optionalSeconds), ("directory", text),
                ]),
            answer(
                "NetworkBody",
                [
                    ("state", words(NetworkStatus.Kind.allCases.map(\.rawValue))), ("isOnline", flag),
                    ("isMetered", flag),
                    ("isConstrained", flag),
                ]),
            answer(
                "StatisticsBody",
                [
                    ("running", count), ("waiting", count), ("paused", count), ("failed", count), ("completed", count),
                    ("cancelled", count), ("bytesPerSecond", bytes), ("partBytes", bytes), ("finishedBytes", bytes),
                    ("freeBytes", bytes), ("uptime", seconds),
                ]),
            answer(
                "StorageBody",
                [
                    ("partBytes", bytes), ("finishedBytes", bytes), ("orphanedParts", texts), ("orphanedBytes", bytes),
                ]),
            answer(
                "HandleBody",
                [("revision", count), ("finished", ["type": "object"]), ("request", Route.reference("NewDownload"))],
                optional: ["finished", "request"]),
            answer(
                "PlanBody",
                [
                    ("name", text), ("url", text), ("totalBytes", optionalBytes), ("acceptsRanges", flag),
                    ("validator", optionalText), ("validatorStrength", words(["strong", "weak", "none"])),
                    ("digests", texts), ("contentType", optionalText), ("freeBytes", optionalBytes),
                    ("resumability", words(["proven", "sampled", "no"])), ("reason", text),
                    ("heldBytes", optionalBytes),
                    ("maxConnections", count),
                ]),
            answer(
                "SessionBody",
                [
                    ("identifier", text), ("directory", text), ("lastEvent", optionalText), ("pendingEvents", count),
                    ("hasLaunchCommand", flag), ("clients", count),
                ]),
            answer("SessionItems", [("items", list("SessionBody"))]),
            answer("SignInBody", [("code", text), ("url", optionalText), ("file", optionalText)]),
            answer("TokenBody", [("id", text), ("token", text)]),
            answer(
                "TokenItem", [("id", text), ("name", text), ("madeAt", time), ("lastUsed", time), ("isOwn", flag)]),
            answer("TokenItems", [("items", list("TokenItem"))]),
            answer(
                "Snapshot",
                [
                    ("items", list("ListedDownload")), ("total", count), ("settings", Route.reference("SettingsBody")),
                    ("network", Route.reference("NetworkBody")),
                ]),
            answer("StreamProgress", [("id", text)] + progress),
            answer(
                "Problem",
                [
                    ("type", text), ("title", text), ("status", count), ("detail", optionalText), ("code", text),
                    ("instance", optionalText), ("error", optional("ErrorBody")),
                ]),
        ]
    }

    private static var progress: [(String, JSONNode)] {
        [
            ("completedBytes", bytes), ("totalBytes", optionalBytes), ("bytesPerSecond", seconds),
            ("timeRemaining", optionalSeconds), ("connections", count),
        ]
    }

    private static let kinds = [
        "added", "started", "resumed", "retrying", "restarted", "waiting", "note", "paused", "completed", "failed",
        "cancelled",
    ]

    private static var download: [(String, JSONNode)] {
        [
            ("id", text), ("session", text), ("name", text), ("url", text),
            ("state", words(DownloadState.Kind.allCases.map(\.rawValue))),
            ("waitReason", optionalWords(WaitReason.words)), ("until", optionalTime),
            ("pauseReason", optionalWords(PauseReason.allCases.map(\.rawValue))), ("error", optional("ErrorBody")),
            ("actions", ["type": "array", "items": words(DownloadAction.allCases.map(\.rawValue))]),
            ("progress", Route.reference("ProgressBody")), ("path", optionalText), ("directory", optionalText),
            ("position", count), ("priority", count), ("label", optionalText), ("userInfo", map),
            ("proof", optionalWords(Proof.allCases.map(\.rawValue))), ("validator", optionalText),
            ("checksum", optionalText), ("rateLimit", optionalBytes), ("maxConnections", count),
            ("allowsMetered", optionalFlag), ("allowsConstrained", optionalFlag), ("addedAt", time),
            ("endedAt", optionalTime), ("handle", Route.reference("HandleBody")),
        ]
    }
}
