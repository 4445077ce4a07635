/// A change to the correct response of one request. Behaviours combine from left to right.
///
/// Named behaviours such as `.ignoreRange` and `.etag("\"b\"")` are in `Behaviour+Ranges`, `+Framing`, `+Status`,
/// `+Access` and `+Timing`; others are written as `Behaviour { answer, request, resource in … }`.
public struct Behaviour: Sendable {
    /// Changes a response, given the request and the version of the resource that is served.
    public typealias Change = @Sendable (_ answer: inout Answer, _ request: RequestHead, _ resource: Resource) -> Void

    let change: Change

    /// Creates a custom behaviour.
    public init(_ change: @escaping Change) { self.change = change }

    /// Changes nothing.
    public static let honest = Behaviour { _, _, _ in }

    /// Applies all behaviours in order.
    public static func all(_ behaviours: Behaviour...) -> Behaviour {
        Behaviour { answer, request, resource in
            for behaviour in behaviours { behaviour.change(&answer, request, resource) }
        }
    }

    /// Applies this behaviour, then another.
    public func and(_ other: Behaviour) -> Behaviour { .all(self, other) }

    /// Applies the behaviour to requests that meet the condition, and `otherwise` to all others.
    public static func when(
        _ condition: @escaping @Sendable (RequestHead) -> Bool, _ behaviour: Behaviour,
        otherwise: Behaviour = .honest
    ) -> Behaviour {
        Behaviour { answer, request, resource in
            (condition(request) ? behaviour : otherwise).change(&answer, request, resource)
        }
    }

    /// Applies the behaviour to requests with a Range field.
    public static func whenRanged(_ behaviour: Behaviour) -> Behaviour { .when({ $0["Range"] != nil }, behaviour) }

    // MARK: Head

    /// Sets a field, replacing one of that name; nil removes it.
    public static func field(_ name: String, _ value: String?) -> Behaviour {
        Behaviour { answer, _, _ in answer.fields[name] = value }
    }

    /// Adds a field in addition to any of that name.
    public static func extraField(_ name: String, _ value: String) -> Behaviour {
        Behaviour { answer, _, _ in answer.fields.append(Field(name, value)) }
    }

    /// Sends a different ETag with this response only: `"b"`, `W/"b"`, unquoted, huge; nil for none.
    public static func etag(_ value: String?) -> Behaviour { .field("ETag", value) }

    /// Sends a different Last-Modified with this response only.
    public static func lastModified(_ value: String?) -> Behaviour { .field("Last-Modified", value) }

    /// Sends Last-Modified equal to Date: a weak validator (RFC 9110 §8.8.2.2).
    public static let lastModifiedNow = Behaviour { answer, _, _ in
        answer.fields["Last-Modified"] = answer.fields["Date"]
    }

    /// Sends the correct response for another version of the resource, like an outdated CDN node.
    public static func version(_ other: @escaping @Sendable (inout Resource) -> Void) -> Behaviour {
        Behaviour { answer, request, resource in
            var changed = resource
            other(&changed)
            answer = .honest(request, changed)
        }
    }

    /// Declares `Content-Encoding: gzip` (or another) for bytes that are not encoded.
    public static func contentEncoding(_ value: String = "gzip") -> Behaviour { .field("Content-Encoding", value) }

    /// Sends the Content-Digest of other bytes.
    public static let wrongContentDigest = Behaviour.field(
        "Content-Digest", Answer.digestField(SHA256Stream().finished()))

    /// Sends the Repr-Digest of other bytes.
    public static let wrongReprDigest = Behaviour.field("Repr-Digest", Answer.digestField(SHA256Stream().finished()))

    /// Sends the correct Repr-Digest. It is computed for each request, so use it only for small files.
    public static let reprDigest = Behaviour { answer, _, resource in
        answer.fields["Repr-Digest"] = Answer.digestField(resource.sha256(0..<resource.size))
    }

    /// Adds this many fields of this many bytes.
    public static func manyFields(_ count: Int, valueBytes: Int = 64) -> Behaviour {
        Behaviour { answer, _, _ in
            let value = String(repeating: "x", count: valueBytes)
            answer.fields += (0..<count).map { Field("X-Filler-\($0)", value) }
        }
    }

    /// Sends arbitrary bytes instead of status line, fields and empty line, followed by the content. `\n` is sent as
    /// CR LF.
    public static func rawHead(_ text: String) -> Behaviour { .rawHead(bytes: Array(crlf(text).utf8)) }

    /// Sends arbitrary bytes instead of status line, fields and empty line, followed by the content.
    public static func rawHead(bytes: [UInt8]) -> Behaviour {
        Behaviour { answer, _, _ in answer.rawHead = bytes }
    }

    /// Sends the head in Latin-1, which is not valid UTF-8. Covers the fields that are set before this behaviour.
    public static let latin1 = Behaviour { answer, _, _ in
        let text = String(decoding: answer.head, as: UTF8.self)
        answer.rawHead = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }

    /// Sends only these bytes and closes: invalid data, HTTP/0.9, ICY, hand-written responses.
    public static func raw(bytes: [UInt8], ending: Answer.Ending = .close) -> Behaviour {
        Behaviour { answer, _, _ in
            answer = Answer(0, ending: ending)
            answer.rawHead = bytes
        }
    }

    /// Like `raw(bytes:)`, for a text in which `\n` is sent as CR LF.
    public static func raw(_ text: String, ending: Answer.Ending = .close) -> Behaviour {
        .raw(bytes: Array(crlf(text).utf8), ending: ending)
    }

    /// Sends an endless head.
    public static let endlessHead = Behaviour { answer, _, _ in
        answer = Answer(0, body: [.endless(Array("X-More: and more\r\n".utf8))], ending: .hang)
        answer.rawHead = Array("HTTP/1.1 200 OK\r\n".utf8)
    }

    /// Sends this many 1xx responses before the correct one.
    public static func informational(_ count: Int, status: Int = 103) -> Behaviour {
        Behaviour { answer, _, _ in
            let one = "HTTP/1.1 \(status) \(Answer.reason(status))\r\nLink: </x>\r\n\r\n"
            answer.before.append(.raw(Array(String(repeating: one, count: count).utf8)))
        }
    }

    static func crlf(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0 != 13 }.flatMap { $0 == 10 ? [13, 10] : [$0] }, as: UTF8.self)
    }
}
