/// A way to change the right answer to one request; behaviours combine from left to right.
///
/// `.ignoreRange`, `.etag("\"b\"")` and the like are written as they read; `Behaviour { answer, request, resource in … }`
/// is for what has no name. The names stand in `Behaviour+Ranges`, `+Framing`, `+Status`, `+Redirects`, `+Access`, `+Timing`.
public struct Behaviour: Sendable {
    /// Changes an answer; given are the request and the version of the resource that is served.
    public typealias Change = @Sendable (_ answer: inout Answer, _ request: RequestHead, _ resource: Resource) -> Void

    let change: Change

    /// A behaviour of one's own.
    public init(_ change: @escaping Change) { self.change = change }

    /// Nothing is changed.
    public static let honest = Behaviour { _, _, _ in }

    /// All of them, one after another.
    public static func all(_ behaviours: Behaviour...) -> Behaviour {
        Behaviour { answer, request, resource in
            for behaviour in behaviours { behaviour.change(&answer, request, resource) }
        }
    }

    /// This one, then another.
    public func and(_ other: Behaviour) -> Behaviour { .all(self, other) }

    /// Only for requests that meet a condition; the others get the right answer, or `otherwise`.
    public static func when(
        _ condition: @escaping @Sendable (RequestHead) -> Bool, _ behaviour: Behaviour,
        otherwise: Behaviour = .honest
    ) -> Behaviour {
        Behaviour { answer, request, resource in
            (condition(request) ? behaviour : otherwise).change(&answer, request, resource)
        }
    }

    /// Only for requests with a Range field.
    public static func whenRanged(_ behaviour: Behaviour) -> Behaviour { .when({ $0["Range"] != nil }, behaviour) }

    // MARK: Head

    /// Sets a field, instead of one of that name; nil removes it.
    public static func field(_ name: String, _ value: String?) -> Behaviour {
        Behaviour { answer, _, _ in answer.fields[name] = value }
    }

    /// Adds a field, beside one of that name.
    public static func extraField(_ name: String, _ value: String) -> Behaviour {
        Behaviour { answer, _, _ in answer.fields.append(Field(name, value)) }
    }

    /// Another ETag on this answer alone, as sent: `"b"`, `W/"b"`, unquoted, huge; nil: none.
    public static func etag(_ value: String?) -> Behaviour { .field("ETag", value) }

    /// Another Last-Modified on this answer alone.
    public static func lastModified(_ value: String?) -> Behaviour { .field("Last-Modified", value) }

    /// Last-Modified equal to Date: a weak validator (RFC 9110 §8.8.2.2).
    public static let lastModifiedNow = Behaviour { answer, _, _ in
        answer.fields["Last-Modified"] = answer.fields["Date"]
    }

    /// The right answer of another version of the resource: what a CDN node that is behind sends.
    public static func version(_ other: @escaping @Sendable (inout Resource) -> Void) -> Behaviour {
        Behaviour { answer, request, resource in
            var changed = resource
            other(&changed)
            answer = .honest(request, changed)
        }
    }

    /// `Content-Encoding: gzip` (or another) on bytes that are not encoded.
    public static func contentEncoding(_ value: String = "gzip") -> Behaviour { .field("Content-Encoding", value) }

    /// A Content-Digest of other bytes.
    public static let wrongContentDigest = Behaviour.field(
        "Content-Digest", Answer.digestField(SHA256Stream().finished()))

    /// A Repr-Digest of other bytes.
    public static let wrongReprDigest = Behaviour.field("Repr-Digest", Answer.digestField(SHA256Stream().finished()))

    /// The right Repr-Digest (streamed at each hit: for small files).
    public static let reprDigest = Behaviour { answer, _, resource in
        answer.fields["Repr-Digest"] = Answer.digestField(resource.sha256(0..<resource.size))
    }

    /// So many fields of so many bytes beside the right ones.
    public static func manyFields(_ count: Int, valueBytes: Int = 64) -> Behaviour {
        Behaviour { answer, _, _ in
            let value = String(repeating: "x", count: valueBytes)
            answer.fields += (0..<count).map { Field("X-Filler-\($0)", value) }
        }
    }

    /// Arbitrary bytes instead of status line, fields and empty line; the content follows. `\n` in the text is sent as CR LF.
    public static func rawHead(_ text: String) -> Behaviour { .rawHead(bytes: Array(crlf(text).utf8)) }

    /// Arbitrary bytes instead of status line, fields and empty line; the content follows.
    public static func rawHead(bytes: [UInt8]) -> Behaviour {
        Behaviour { answer, _, _ in answer.rawHead = bytes }
    }

    /// Arbitrary bytes and nothing else, then the connection is closed: garbage, HTTP/0.9, ICY, whole hand-written responses.
    public static func raw(bytes: [UInt8], ending: Answer.Ending = .close) -> Behaviour {
        Behaviour { answer, _, _ in
            answer = Answer(0, ending: ending)
            answer.rawHead = bytes
        }
    }

    /// As `raw(bytes:)`, of a text in which `\n` is sent as CR LF.
    public static func raw(_ text: String, ending: Answer.Ending = .close) -> Behaviour {
        .raw(bytes: Array(crlf(text).utf8), ending: ending)
    }

    /// A head that goes on for ever.
    public static let endlessHead = Behaviour { answer, _, _ in
        answer = Answer(0, body: [.endless(Array("X-More: and more\r\n".utf8))], ending: .hang)
        answer.rawHead = Array("HTTP/1.1 200 OK\r\n".utf8)
    }

    /// So many 1xx responses before the right one.
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
