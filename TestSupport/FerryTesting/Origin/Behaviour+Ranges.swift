extension Behaviour {
    /// As if no Range had been asked: a 200 with the whole (A1).
    public static let ignoreRange = Behaviour { answer, request, resource in
        answer = .honest(request.without("Range").without("If-Range"), resource)
    }

    /// A 200 with the whole when there is an If-Range, although it matches; a plain Range is answered.
    public static let dislikeIfRange = Behaviour { answer, request, resource in
        if request["If-Range"] != nil { answer = .honest(request.without("Range"), resource) }
    }

    /// A 206 although If-Range does not match: the range of the file as it is now.
    public static let ignoreIfRange = Behaviour { answer, request, resource in
        answer = .honest(request.without("If-Range"), resource)
    }

    /// Any text as Content-Range of a 206 (A9); nil: none (A8).
    public static func contentRange(_ value: String?) -> Behaviour {
        Behaviour { answer, _, _ in if answer.status == 206 { answer.fields["Content-Range"] = value } }
    }

    /// A 206 that starts and ends so many bytes later (or earlier, when negative) than asked, consistent in itself (A3).
    public static func shiftedRange(by bytes: Int64) -> Behaviour {
        .part { part, size in
            let start = min(max(0, part.lowerBound + bytes), max(0, size - 1))
            return start..<max(start, min(size, part.upperBound + bytes))
        }
    }

    /// A 206 that ends after so many bytes of what was asked, consistent in itself (A5).
    public static func endsEarly(after bytes: Int64) -> Behaviour {
        .part { part, _ in part.lowerBound..<min(part.upperBound, part.lowerBound + max(1, bytes)) }
    }

    /// A 206 that goes on for so many bytes after what was asked, consistent in itself (A6).
    public static func endsLate(by bytes: Int64) -> Behaviour {
        .part { part, size in part.lowerBound..<min(size, part.upperBound + bytes) }
    }

    /// A 206 that says another total (A4), or `*` (A7): `.total("12345")`, `.total("*")`.
    public static func total(_ total: String) -> Behaviour {
        Behaviour { answer, _, _ in
            guard answer.status == 206, let field = answer.fields["Content-Range"],
                let slash = field.lastIndex(of: "/")
            else { return }
            answer.fields["Content-Range"] = field[...slash] + total
        }
    }

    /// A 206 with the whole although no Range was asked (A10); nil: with `0-(size-1)/size`.
    public static func partialUnasked(contentRange: String? = nil) -> Behaviour {
        Behaviour { answer, _, resource in
            guard answer.status == 200 else { return }
            answer.status = 206
            answer.fields["Content-Range"] = contentRange ?? "bytes 0-\(resource.size - 1)/\(resource.size)"
        }
    }

    /// Always this part, whatever was asked: a 206 to a request without Range too (A10).
    public static func onlyPart(_ part: Range<Int64>) -> Behaviour {
        Behaviour { answer, request, resource in
            let field = "bytes=\(part.lowerBound)-\(part.upperBound - 1)"
            answer = .honest(
                RequestHead(method: request.method, target: "/", fields: [Field("Range", field)]), resource)
        }
    }

    /// A single range is answered as multipart/byteranges (A8).
    public static let multipart = Behaviour { answer, request, resource in
        guard answer.status == 206, let field = request["Range"],
            let ranges = RangeAnswer.ranges(field, size: resource.size), !ranges.isEmpty
        else { return }
        let validators = answer.fields.filter { ["Date", "ETag", "Last-Modified"].contains($0.name) }
        answer = .multipart(ranges, resource)
        answer.fields = validators + answer.fields
    }

    /// A 416 with `bytes */LENGTH`, without Content-Range (nil), and with a body that never ends if wanted (A11).
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

    /// Answers another part than was asked, right in itself.
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
