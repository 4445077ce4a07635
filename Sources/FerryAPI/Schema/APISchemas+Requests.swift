import FerryCore

extension APISchemas {
    static var requests: [Named] {
        [
            request(
                "NewDownload",
                [
                    ("id", text), ("urls", texts), ("directory", text), ("name", text), ("path", text), ("part", text),
                    ("onConflict", words(ConflictRule.allCases.map(\.rawValue))), ("headers", headers), ("user", text),
                    ("password", text), ("checksum", text), ("checksumList", text), ("maxConnections", positive),
                    ("rateLimit", positive), ("maxBytes", positive), ("priority", count), ("startsPaused", flag),
                    ("notBefore", time), ("allowsMetered", flag), ("allowsConstrained", flag), ("allowsPrivate", flag),
                    ("secretsOrigin", text), ("label", text),
                    ("userInfo", map), ("onDuplicate", words(DuplicateRule.allCases.map(\.rawValue))), ("strict", flag),
                    ("allowsUnprovenParts", flag), ("resumesUnproven", flag), ("failsOnChange", flag),
                    ("allowsDowngrade", flag), ("acceptsHTML", flag), ("syncsToDisk", flag),
                ]),
            request(
                "NewDownloads",
                [
                    (
                        "downloads",
                        [
                            "type": "array", "items": Route.reference("NewDownload"), "minItems": 1,
                            "maxItems": .number(FerryAPI.mostAdded),
                        ]
                    )
                ], required: ["downloads"]),
            request(
                "ChangeBody",
                [
                    ("url", text), ("urls", texts), ("rateLimit", optionalBytes), ("maxConnections", positive),
                    ("priority", count), ("allowsMetered", optionalFlag), ("allowsConstrained", optionalFlag),
                    ("allowsPrivate", optionalFlag), ("label", optionalText), ("userInfo", map),
                    ("checksum", optionalText), ("headers", headers),
                    ("user", text), ("password", text), ("acceptsHTML", flag),
                ]),
            request(
                "SettingsChange",
                [
                    ("maxConcurrentDownloads", optionalCount), ("rateLimit", optionalBytes),
                    ("connectionsPerHost", optionalCount), ("allowsMetered", optionalFlag),
                    ("allowsConstrained", optionalFlag),
                    ("networkAssumption", optionalWords(["metered", "unmetered"])),
                    ("retriesFailedAfter", optionalSeconds), ("directory", text),
                ]),
            request(
                "MoveBody",
                [
                    (
                        "to",
                        [
                            "oneOf": [
                                words(["first", "last"]), place("before", text), place("after", text),
                                place("index", ["type": "integer", "minimum": 0]),
                            ]
                        ]
                    )
                ], required: ["to"]),
            request("RelocateBody", [("directory", text)], required: ["directory"]),
            request("AdoptBody", [("path", text)], required: ["path"]),
            request(
                "ResumeDataBody", [("resumeData", ["type": "string", "contentEncoding": "base64"])],
                required: ["resumeData"]),
            request("SelectionBody", [("ids", texts)]),
            request(
                "RemovalBody",
                [
                    (
                        "ids",
                        [
                            "type": "array", "items": ["type": "string"],
                            "maxItems": .number(FerryAPI.mostAtOnce),
                        ]
                    ), ("deleteFiles", flag),
                ], required: ["ids"]),
            request(
                "ClearBody", [("which", words(ClearBody.Which.allCases.map(\.rawValue))), ("deleteFiles", flag)],
                required: ["which"]),
            request(
                "AcknowledgeBody", [("numbers", ["type": "array", "items": ["type": "integer"]])],
                required: ["numbers"]),
            request("CodeBody", [("code", text)], required: ["code"]),
            request(
                "SessionRegistration", [("identifier", text), ("directory", text), ("launchCommand", texts)],
                required: ["identifier"]),
        ]
    }

    private static let positive: JSONNode = ["type": "integer", "minimum": 1]
    private static let headers: JSONNode = [
        "type": "object",
        "additionalProperties": ["oneOf": [["type": "string"], ["type": "array", "items": ["type": "string"]]]],
    ]

    private static func place(_ name: String, _ schema: JSONNode) -> JSONNode {
        ["type": "object", "properties": .object([(name, schema)]), "required": [.text(name)]]
    }
}
