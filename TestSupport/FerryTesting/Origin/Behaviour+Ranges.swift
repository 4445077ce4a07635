extension Behaviour {
    /// Ignores Range and sends a 200 with the whole file (A1).
    public static let ignoreRange = Behaviour { answer, request, resource in
        answer = .honest(request.without("Range").without("If-Range"), resource)
    }

    /// Sends a 200 with the whole file if there is an If-Range, even if it matches. A Range without If-Range is answered correctly.
    public static let dislikeIfRange = Behaviour { answer, request, resource in
        if request["If-Range"] != nil { answer = .honest(request.without("Range"), resource) }
    }

    /// Sends a 206 with the range of the current file, even if If-Range does not match.
    public static let ignoreIfRange = Behaviour { answer, request, resource in
        answer = .honest(request.without("If-Range"), resource)
    }

    /// Sends any text as Content-Range of a 206 (A9); nil for no field (A8).
    public static func contentRange(_ value: String?) -> Behaviour {
        Behaviour { answer, _, _ in if answer.status == 206 { answer.fields["Content-Range"] = value } }
    }

    /// Sends a consistent 206 shifted by this many bytes, backwards if negative (A3).
    public static func shiftedRange(by bytes: Int64) -> Behaviour {
        .part { part, size in
            let start = min(max(0, part.lowerBound + bytes), max(0, size - 1))
            return start..<max(start, min(size, part.upperBound + bytes))
        }
    }

    /// Sends a consistent 206 with at most this many bytes of the requested range (A5).
    public static func endsEarly(after bytes: Int64) -> Behaviour {
        .part { part, _ in part.lowerBound..<min(part.upperBound, part.lowerBound + max(1, bytes)) }
    }

    /// Sends a consistent 206 that extends the requested range by this many bytes (A6).
    public static func endsLate(by bytes: Int64) -> Behaviour {
        .part { part, size in part.lowerBound..<min(size, part.upperBound + bytes) }
    }

    /// Sends a 206 with a different total (A4) or `*` (A7): `.total("12345")`, `.total("*")`.
    public static func total(_ total: String) -> Behaviour {
        Behaviour { answer, _, _ in
            guard answer.status == 206, let field = answer.fields["Content-Range"],
                let slash = field.lastIndex(of: "/")
            else { return }
            answer.fields["Content-Range"] = field[...slash] + total
        }
    }

    /// Sends the whole file as an unrequested 206 (A10), by default with `0-(size-1)/size`.
    public static func partialUnasked(contentRange: String? = nil) -> Behaviour {
        Behaviour { answer, _, resource in
            guard answer.status == 200 else { return }
            answer.status = 206
            answer.fields["Content-Range"] = contentRange ?? "bytes 0-\(resource.size - 1)/\(resource.size)"
        }
    }

    /// Always sends this part as a 206, for any request, even without Range (A10).
    public static func onlyPart(_ part: Range<Int64>) -> Behaviour {
        Behaviour { answer, request, resource in
            let field = "bytes=\(part.lowerBound)-\(part.upperBound - 1)"
            answer = .honest(
                RequestHead(method: request.method, target: "/", fields: [Field("Range", field)]), resource)
        }
    }

    /// Answers a single range as multipart/byteranges (A8).
    public static let multipart = Behaviour { answer, request, resource in
        guard answer.status == 206, let field = request["Range"],
            let ranges = RangeAnswer.ranges(field, size: resource.size), !ranges.isEmpty
        else { return }
        let validators = answer.fields.filter { ["Date", "ETag", "Last-Modified"].contains($0.name) }
        answer = .multipart(ranges, resource)
        answer.fields = validators + answer.fields
    }

    /// Sends a 416 with `bytes */LENGTH`, or without Content-Range for nil, optionally with an endless body (A11).
    public static func unsatisfiable(length: Int64?, endlessBody: Bool = false) -> Behaviour {
        Behaviour { answer, _, _ in
            answer = .page(416, "no such range")
            if let length { answer.fields["Content-Range"] = "bytes */\(length)" }
            if endlessBody {
                answer.fields["Content-Length"] = nil
                answer.fields["Connection"] = "close"
                answer.body = [.endless(Array("no such range ".utf8))]
            }
        }
    }

    /// Answers consistently with a different part than requested.
    static func part(_ choose: @escaping @Sendable (Range<Int64>, Int64) -> Range<Int64>) -> Behaviour {
        Behaviour { answer, request, resource in
            guard answer.status == 206, case .part(let asked) = RangeAnswer.make(for: request, resource: resource)
            else { return }
            let part = choose(asked, resource.size)
            guard !part.isEmpty else { return }
            let field = "bytes=\(part.lowerBound)-\(part.upperBound - 1)"
            answer = .honest(
                RequestHead(method: request.method, target: "/", fields: [Field("Range", field)]), resource)
        }
    }
}
