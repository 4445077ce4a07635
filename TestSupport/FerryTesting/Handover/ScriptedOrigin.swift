package import FerryCore
package import HTTPTypes

/// A server for the system's tasks: several versions of one file, and odd responses.
///
/// Its heads describe the bytes of their bodies correctly, but may be incomplete.
package struct ScriptedOrigin: Sendable {
    /// The ways in which a response can differ from the requested one.
    package enum Oddity: String, Sendable, CaseIterable {
        /// 200 with the whole file.
        case ignoresRange
        /// 206 of another version, with its own tag, although If-Range does not match.
        case otherVersion
        /// 206 of another version, without a tag in the head.
        case noTag
        /// 206 of another version, with the weak form of this version's tag.
        case weakTag
        /// 206 that begins later.
        case shifted
        /// 206 that ends earlier.
        case shorter
        /// The system delivers fewer bytes than the head declares.
        case cutOff
        /// The body has a content coding.
        case encoded
        /// 206 with `*` as the total.
        case unknownTotal
        /// 206 of a version with another length, under the same tag.
        case otherTotal
        case page
        case unavailable
        case gone
        case unsatisfied
    }

    package struct Answer: Sendable {
        package var head: ResponseHead
        package var body: [UInt8]
    }

    /// All versions of the file, which have the same length.
    package let versions: [Resource]
    /// The version that is currently served.
    package var current = 0
    /// The probability that a response is odd.
    package var oddities = 0.0
    /// Whether the response is 412 if `If-Match` names another version.
    package var honoursConditions = true
    /// The kinds of odd responses that occur.
    package var kinds: [Oddity] = Oddity.allCases

    package init(_ versions: [Resource]) { self.versions = versions }

    package var resource: Resource { versions[current] }
    package var identity: FileIdentity {
        FileIdentity(etag: resource.etag, totalBytes: resource.size, contentType: resource.contentType)
    }

    /// Responds to a request with these fields.
    package func answer(_ fields: HTTPFields, using random: inout SeededGenerator) -> Answer {
        let isOdd = Double.random(in: 0..<1, using: &random) < oddities
        let oddity = isOdd ? kinds.randomElement(using: &random) : nil
        return answer(fields, oddity)
    }

    package func answer(_ fields: HTTPFields, _ oddity: Oddity?) -> Answer {
        let whole = 0..<resource.size
        if honoursConditions, oddity == nil, let condition = fields[.ifMatch], condition != resource.etag {
            return text(412, "another version", "text/plain")
        }
        var isFresh = true
        if let condition = fields[.ifRange] { isFresh = condition == resource.etag }
        guard isFresh || oddity == .otherVersion, oddity != .ignoresRange,
            case .part(let asked) = RangeField(fields[.range], length: resource.size)
        else { return full(whole, oddity) }
        let other = versions[(current + 1) % versions.count]
        switch oddity {
        case .otherVersion: return part(asked, of: other, tag: other.etag)
        case .noTag: return part(asked, of: other, tag: nil)
        case .weakTag: return part(asked, of: other, tag: resource.etag.map { "W/" + $0 })
        case .shifted:
            let start = asked.upperBound - asked.lowerBound > 1 ? asked.lowerBound + 1 : asked.lowerBound
            return part(start..<asked.upperBound, of: resource, tag: resource.etag)
        case .shorter:
            let end = max(asked.lowerBound + 1, asked.upperBound - 1)
            return part(asked.lowerBound..<end, of: resource, tag: resource.etag)
        case .unknownTotal: return part(asked, of: resource, tag: resource.etag, total: "*")
        case .otherTotal: return part(asked, of: other, tag: resource.etag, total: "\(resource.size + 1)")
        default: return distorted(part(asked, of: resource, tag: resource.etag), oddity)
        }
    }

    private func full(_ whole: Range<ByteCount>, _ oddity: Oddity?) -> Answer {
        var fields = HTTPFields()
        fields[.contentLength] = "\(resource.size)"
        fields[.eTag] = resource.etag
        fields[.contentType] = resource.contentType
        return distorted(
            Answer(head: ResponseHead(status: 200, headers: fields), body: FileBytes.of(resource).all), oddity)
    }

    private func part(_ range: Range<ByteCount>, of version: Resource, tag: String?, total: String? = nil) -> Answer {
        var fields = HTTPFields()
        fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total ?? "\(version.size)")"
        fields[.contentLength] = "\(range.upperBound - range.lowerBound)"
        fields[.eTag] = tag
        let bytes = FileBytes.of(version).all[Int(range.lowerBound)..<Int(range.upperBound)]
        return Answer(head: ResponseHead(status: 206, headers: fields), body: Array(bytes))
    }

    private func distorted(_ answer: Answer, _ oddity: Oddity?) -> Answer {
        var answer = answer
        switch oddity {
        case .cutOff: answer.body = Array(answer.body.prefix(answer.body.count / 2))
        case .encoded:
            answer.head.headers[.contentEncoding] = "gzip"
            answer.body = answer.body.map { ~$0 }
        case .page: answer = text(200, "<html>sign in</html>", "text/html")
        case .unavailable: answer = text(503, "later", "text/plain")
        case .gone: answer = text(404, "gone", "text/plain")
        case .unsatisfied:
            answer = text(416, "", "text/plain")
            answer.head.headers[.contentRange] = "bytes */\(resource.size)"
        default: break
        }
        return answer
    }

    private func text(_ status: Int, _ body: String, _ type: String) -> Answer {
        var fields = HTTPFields()
        fields[.contentLength] = "\(body.utf8.count)"
        fields[.contentType] = type
        return Answer(head: ResponseHead(status: status, headers: fields), body: Array(body.utf8))
    }
}
