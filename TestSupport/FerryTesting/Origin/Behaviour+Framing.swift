extension Behaviour {
    /// Ends the content after this many bytes, fewer than declared (A21, A25), with `.close`, `.cut` or `.reset`.
    public static func cut(after bytes: Int64, _ ending: Answer.Ending = .close) -> Behaviour {
        Behaviour { answer, _, _ in
            if (answer.bodyCount ?? .max) > bytes { answer.cut(after: bytes, ending) }
        }
    }

    /// Sends this many bytes beyond the declared end (A6, A22).
    public static func excess(_ bytes: Int) -> Behaviour {
        Behaviour { answer, _, _ in answer.body.append(.literal(Array(repeating: UInt8(ascii: "x"), count: bytes))) }
    }

    /// Sends any text as Content-Length (A22, A23, A24); nil for no field.
    public static func contentLength(_ value: String?) -> Behaviour { .field("Content-Length", value) }

    /// Uses chunked encoding without a length (A25).
    public static func chunked(_ size: Int = 65_536) -> Behaviour {
        Behaviour { answer, _, _ in
            answer.fields["Content-Length"] = nil
            answer.fields["Transfer-Encoding"] = "chunked"
            answer.setChunks(size)
        }
    }

    /// Uses chunked encoding and sends this text as a chunk size after this many bytes of content (A27): `"zz"`,
    /// `"-5"`, `"ffffffffffffffffff"`.
    public static func badChunkSize(_ line: String, after bytes: Int64 = 0) -> Behaviour {
        Behaviour { answer, _, resource in
            let content = answer.body
            answer.fields["Content-Length"] = nil
            answer.fields["Transfer-Encoding"] = "chunked"
            answer.cut(after: bytes, .close)
            answer.setChunks(65_536)
            answer.body.removeLast()
            answer.body.append(.raw(Array("\(line)\r\n".utf8)))
            answer.body += content
        }
    }

    /// Uses chunked encoding and closes instead of sending the last chunk (A25).
    public static let missingLastChunk = Behaviour.chunked().and(
        Behaviour { answer, _, _ in
            answer.body.removeLast()
            answer.ending = .close
        })

    /// Sends no length: the end of the connection ends the content (A26). `.cut` omits close_notify over TLS.
    public static func closeDelimited(_ ending: Answer.Ending = .close) -> Behaviour {
        Behaviour { answer, _, _ in
            answer.fields["Content-Length"] = nil
            answer.fields["Connection"] = "close"
            answer.ending = ending
        }
    }

    /// Sends both Content-Length and Transfer-Encoding: chunked, with chunked content (A24).
    public static let lengthAndChunked = Behaviour { answer, _, _ in
        answer.fields.append(Field("Transfer-Encoding", "chunked"))
        answer.setChunks(65_536)
    }

    /// Sends a second Content-Length (A24).
    public static func secondContentLength(_ value: String) -> Behaviour { .extraField("Content-Length", value) }

    /// Sends an endless body without a length (A29); with `chunked: true` as endless chunks.
    public static func endlessBody(chunked: Bool = false) -> Behaviour {
        Behaviour { answer, _, _ in
            let piece = [UInt8](repeating: UInt8(ascii: "e"), count: 16_384)
            answer.fields["Content-Length"] = nil
            answer.fields["Content-Range"] = nil
            answer.status = 200
            if chunked {
                answer.fields["Transfer-Encoding"] = "chunked"
                answer.body = [.endless(Array("4000\r\n".utf8) + piece + Array("\r\n".utf8))]
            } else {
                answer.fields["Connection"] = "close"
                answer.body = [.endless(piece)]
            }
        }
    }

    /// Sends `Connection: close` and closes after the correct response.
    public static let closeAfter = Behaviour { answer, _, _ in
        answer.fields["Connection"] = "close"
        answer.ending = .close
    }

    /// Closes without notice after the correct response: the next request on this connection fails before its first
    /// byte.
    public static let closeSilently = Behaviour { answer, _, _ in answer.ending = .close }

    /// Sends no response: closes, cuts or resets before the first byte.
    public static func drop(_ ending: Answer.Ending = .close) -> Behaviour { .raw(bytes: [], ending: ending) }

    /// Corrupts bytes at an offset of the file; the framing stays correct.
    public static func corrupt(at offset: Int64, count: Int64 = 64) -> Behaviour {
        Behaviour { answer, _, _ in
            answer.body = answer.body.flatMap { step -> [Answer.Step] in
                guard case .content(let resource, let range, nil) = step else { return [step] }
                let bad = (offset..<offset + count).clamped(to: range)
                guard !bad.isEmpty else { return [step] }
                return [
                    .content(resource, range.lowerBound..<bad.lowerBound, chunk: nil),
                    .literal(resource.bytes(bad).map { ~$0 }),
                    .content(resource, bad.upperBound..<range.upperBound, chunk: nil),
                ]
            }
        }
    }
}
