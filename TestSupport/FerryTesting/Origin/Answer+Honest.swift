public import Foundation

extension Answer {
    /// Returns the correct response to a request for a resource (RFC 9110 §13, §14, §15).
    public static func honest(_ request: RequestHead, _ resource: Resource, now: Date = Date()) -> Answer {
        guard ["GET", "HEAD"].contains(request.method) else {
            return .page(405, "only GET and HEAD", fields: [Field("Allow", "GET, HEAD")])
        }
        var answer: Answer
        switch RangeAnswer.make(for: request, resource: resource) {
        case .whole:
            answer = Answer(200)
            answer.setContent([.content(resource, 0..<resource.size, chunk: nil)], resource)
        case .part(let range):
            answer = Answer(206, fields: [contentRange(range, resource)])
            answer.setContent([.content(resource, range, chunk: nil)], resource)
        case .parts(let ranges):
            answer = multipart(ranges, resource)
        case .unsatisfiable:
            answer = .page(416, "", fields: [Field("Content-Range", "bytes */\(resource.size)")])
        case .notModified:
            answer = Answer(304)
        }
        var fields = [Field("Date", OriginDate.format(now)), Field("Server", "ferry-origin")]
        if let lastModified = resource.lastModified {
            fields.append(Field("Last-Modified", OriginDate.format(lastModified)))
        }
        if let etag = resource.etag { fields.append(Field("ETag", etag)) }
        if answer.status != 304 {
            switch resource.ranges {
            case .on, .ignored: fields.append(Field("Accept-Ranges", "bytes"))
            case .off: fields.append(Field("Accept-Ranges", "none"))
            case .unannounced: break
            }
            if let type = resource.contentType, answer.fields["Content-Type"] == nil {
                fields.append(Field("Content-Type", type))
            }
            if let disposition = resource.contentDisposition {
                fields.append(Field("Content-Disposition", disposition))
            }
            if resource.offersContentDigest, let digest = answer.contentDigest {
                fields.append(Field("Content-Digest", digest))
            }
        }
        answer.fields = fields + resource.fields + answer.fields
        return answer
    }

    /// Sets the body and the framing fields.
    mutating func setContent(_ steps: [Step], _ resource: Resource) {
        body = steps
        switch resource.framing {
        case .length: fields.append(Field("Content-Length", "\(bodyCount ?? 0)"))
        case .close:
            fields.append(Field("Connection", "close"))
            ending = .close
        case .chunked(let size):
            fields.append(Field("Transfer-Encoding", "chunked"))
            setChunks(size)
        }
    }

    /// Frames the content as chunks of this size and adds the last chunk.
    mutating func setChunks(_ size: Int) {
        body = body.map { step in
            switch step {
            case .content(let resource, let range, _): .content(resource, range, chunk: max(1, size))
            case .literal(let bytes):
                .raw(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8))
            default: step
            }
        }
        body.append(.raw(Array("0\r\n\r\n".utf8)))
    }

    /// The Content-Digest of the content, if that is at most 64 MiB (RFC 9530 §2).
    private var contentDigest: String? {
        guard let count = bodyCount, count <= 67_108_864 else { return nil }
        var hash = SHA256Stream()
        for step in body {
            switch step {
            case .content(let resource, let range, _): hash.update(resource.bytes(range))
            case .literal(let bytes): hash.update(bytes)
            default: break
            }
        }
        return Self.digestField(hash.finished())
    }

    /// Returns `sha-256=:BASE64:`, the format of Content-Digest and Repr-Digest.
    public static func digestField(_ sha256: [UInt8]) -> String {
        "sha-256=:\(Data(sha256).base64EncodedString()):"
    }

    private static func contentRange(_ range: Range<Int64>, _ resource: Resource) -> Field {
        Field("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(resource.size)")
    }

    /// Returns a 206 with several parts, with Content-Range in each (RFC 9110 §14.6).
    static func multipart(_ ranges: [Range<Int64>], _ resource: Resource) -> Answer {
        let boundary = "ferry-boundary"
        var answer = Answer(206, fields: [Field("Content-Type", "multipart/byteranges; boundary=\(boundary)")])
        var steps: [Step] = []
        for range in ranges {
            let part = "\r\n--\(boundary)\r\nContent-Type: \(resource.contentType ?? "application/octet-stream")\r\n"
            steps.append(.literal(Array("\(part)Content-Range: \(contentRange(range, resource).value)\r\n\r\n".utf8)))
            steps.append(.content(resource, range, chunk: nil))
        }
        steps.append(.literal(Array("\r\n--\(boundary)--\r\n".utf8)))
        answer.setContent(steps, resource)
        return answer
    }
}
