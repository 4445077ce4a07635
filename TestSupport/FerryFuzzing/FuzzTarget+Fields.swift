import FerryCore
import FerryEngine
import HTTPTypes

import struct Foundation.Data
import struct Foundation.Date

extension FuzzTarget {
    static func linkField(_ input: [UInt8]) throws(BrokenPromise) {
        guard let name = HTTPField.Name("Link"), let source = try? DownloadURL("https://h/d/f") else { return }
        var head = ResponseHead(status: 200)
        head.headers.append(HTTPField(name: name, value: String(decoding: input, as: UTF8.self)))
        var links = LinkField()
        links.add(head, from: source)
        let mirrors = LinkField.usable(links.mirrors, besides: [source], allowsDowngrade: false)
        try promise(mirrors.count <= LinkField.mostMirrors, "\(mirrors.count) mirrors")
        try promise(Set(mirrors + [source]).count == mirrors.count + 1, "the same mirror twice: \(mirrors)")
        for url in mirrors {
            try checkForm(of: url)
            let isSafe = url.scheme == .https && PrivateAddress.kind(ofHost: url.host) == nil && url.credentials == nil
            try promise(isSafe, "the mirror \(url)")
        }
    }

    /// Content-Range of a response, and Range of a request.
    static func contentRange(_ input: [UInt8]) throws(BrokenPromise) {
        for length in [0, 1, 100, ByteCount.max] {
            guard case .part(let range) = RangeField(String(decoding: input, as: UTF8.self), length: length) else {
                continue
            }
            try promise(range.lowerBound >= 0 && range.upperBound <= length, "\(range) of \(length)")
            try promise(!range.isEmpty, "an empty range of \(length)")
            let field = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
            try promise(RangeField(field, length: length) == .part(range), "not read again: \(field)")
        }
        switch ContentRange(String(decoding: input, as: UTF8.self)) {
        case .part(let range, let total):
            try promise(range.lowerBound >= 0 && !range.isEmpty, "an impossible range: \(range)")
            try promise(total ?? .max >= range.upperBound, "\(range) of \(total ?? -1)")
            let field = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total.map { "\($0)" } ?? "*")"
            try promise(ContentRange(field) == .part(range, total: total), "not read again: \(field)")
        case .unsatisfied(let total):
            try promise(total ?? -1 >= 0, "an impossible total: \(total ?? -1)")
        case nil: break
        }
    }

    /// A date or a number of seconds.
    static func httpDate(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input, as: UTF8.self)
        try checkDelay(RetryAfter.delay(text, now: now))
        let fixed = HTTPDate.parse(text)
        let floating = HTTPDate.parse(text, now: now)
        try promise((fixed == nil) == (floating == nil), "a date depends on the time: \(text)")
        for date in [fixed, floating].compactMap(\.self) {
            let field = HTTPDate.format(date)
            try promise(field.utf8.count == 29, "a date is 29 bytes: \(field)")
            try promise(HTTPDate.parse(field) == date, "\(text) is \(field), which is another date")
        }
        if let fixed, let floating, fixed != floating {
            let years = (floating.timeIntervalSince1970 - now.timeIntervalSince1970) / 31_556_952
            try promise(years > -51 && years < 51.1, "two digits of a year mean \(HTTPDate.format(floating))")
        }
    }

    /// Digest fields, one per line.
    static func digestField(_ input: [UInt8]) throws(BrokenPromise) {
        guard var head = HeadText.heads(input).first?.head else { return }
        try check(DigestField.contentDigests(in: head))
        for status in [200, 206, 404] {
            head.status = status
            let digests = DigestField.digests(in: head)
            try promise(status != 404 || digests.isEmpty, "digests of an error page")
            try check(digests)
            guard let name = HTTPField.Name("Repr-Digest"), status == 200 else { continue }
            let members = digests.map { sum in
                let key = sum.algorithm == .sha1 ? "sha" : sum.algorithm.rawValue
                return "\(key)=:\(Data(sum.bytes).base64EncodedString()):"
            }
            var again = ResponseHead(status: 200)
            again.headers[name] = members.joined(separator: ", ")
            try promise(DigestField.digests(in: again) == digests, "not read again: \(members)")
        }
    }

    static func check(_ digests: [Checksum]) throws(BrokenPromise) {
        for (stronger, weaker) in zip(digests, digests.dropFirst()) {
            try promise(
                stronger.algorithm.strength > weaker.algorithm.strength,
                "not the strongest first, each once: \(digests)")
        }
        for sum in digests { try check(sum) }
    }

    static func check(_ sum: Checksum) throws(BrokenPromise) {
        try promise(sum.bytes.count == sum.algorithm.byteCount, "\(sum) is too long or too short")
        try promise((try? Checksum(parsing: sum.description)) == sum, "\(sum) is not read again")
    }

    /// Challenge fields, one per line.
    static func authChallenge(_ input: [UInt8]) throws(BrokenPromise) {
        let lines = input.split(separator: 0x0A).prefix(4).map { String(decoding: $0, as: UTF8.self) }
        let challenges = AuthChallenge.parse(lines)
        try promise(challenges.count <= 32 * lines.count, "\(challenges.count) challenges")
        for challenge in challenges {
            try checkToken(challenge.scheme)
            for name in challenge.parameters.keys { try checkToken(name) }
            try promise(challenge.token68?.isEmpty != true, "an empty token is none")
        }
        switch AuthAnswer.best(of: challenges) {
        case .digest(let challenge): try check(challenge)
        case .basic(let realm):
            try promise(!challenges.contains { DigestChallenge($0) != nil }, "Basic before Digest")
            try promise(challenges.contains { $0.scheme == "basic" && $0.realm == realm }, "Basic from nowhere")
        case nil: try promise(!challenges.contains { $0.scheme == "basic" }, "Basic was passed over")
        }
    }

    /// Checks that the response to a challenge is a single field with the intended values.
    private static func check(_ challenge: DigestChallenge) throws(BrokenPromise) {
        let sent = challenge.authorization(
            method: "GET", uri: "/a?b", credentials: Credentials(user: "u\"\\", password: "p"), nonceCount: 1,
            cnonce: "0a4f"
        ) { algorithm, bytes in [UInt8](repeating: bytes.reduce(0, ^), count: algorithm.byteCount) }
        try promise(sent.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a control byte: \(sent.debugDescription)")
        guard let read = AuthChallenge.parse([sent]).first, read.scheme == "digest" else {
            throw BrokenPromise(description: "not read again: \(sent)")
        }
        for (name, value) in [("realm", challenge.realm), ("nonce", challenge.nonce), ("opaque", challenge.opaque)] {
            let visible = value.map { String(decoding: $0.utf8.filter { $0 >= 0x20 && $0 != 0x7F }, as: UTF8.self) }
            try promise(read.parameters[name] == visible, "\(name) is \(visible ?? "-") in \(sent)")
        }
        if !challenge.hashesUser { try promise(read.parameters["username"] == "u\"\\", "another user in \(sent)") }
    }

    private static func checkToken(_ word: String) throws(BrokenPromise) {
        let isToken = word.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) }
        try promise(!word.isEmpty && isToken, "no token in lower case: \(word.debugDescription)")
    }
}
