import FerryCore
import Foundation
import HTTPTypes
import Testing

/// A head from its status and lines.
func head(_ status: Int, _ lines: (HTTPField.Name, String)...) -> ResponseHead {
    var fields = HTTPFields()
    for (name, value) in lines { fields.append(HTTPField(name: name, value: value)) }
    return ResponseHead(status: status, headers: fields)
}

@Suite("Response verdicts")
struct ResponseVerdictTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func judge(_ head: ResponseHead, _ ask: RangeAsk = .whole) -> String {
        switch ResponseVerdict.judge(head, asked: ask, now: now) {
        case .whole(let representation): "whole \(representation.identity.totalBytes ?? -1)"
        case .part(let range, let representation): "part \(range) of \(representation.identity.totalBytes ?? -1)"
        case .notModified: "notModified"
        case .unsatisfied(let representation): "unsatisfied \(representation.identity.totalBytes ?? -1)"
        case .deadLink(_, let status): "dead \(status)"
        case .busy(let status, let wish): "busy \(status) \(wish.map { "\(Int($0.seconds))" } ?? "-")"
        case .unusable: "unusable"
        case .refused: "refused"
        }
    }

    @Test(
        "ResponseVerdict: a 206 is a part only when it starts at the requested byte and is consistent",
        arguments: [
            ("bytes 100-199/1000", "100", "part 100..<200 of 1000"),
            ("bytes 100-149/1000", "50", "part 100..<150 of 1000"),
            ("bytes 100-999/1000", "900", "part 100..<1000 of 1000"),
            ("bytes 100-199/*", "100", "part 100..<200 of -1"),
            ("bytes 0-199/1000", "200", "unusable"), ("bytes 101-199/1000", "99", "unusable"),
            ("bytes 100-199/1000", "101", "unusable"), ("bytes 199-100/1000", nil, "unusable"),
            ("bytes 100-199/199", nil, "unusable"), ("bytes 100-199/150", nil, "unusable"),
            ("bytes */1000", nil, "unusable"),
            ("bytes=100-199/1000", nil, "unusable"), ("items 100-199/1000", nil, "unusable"),
            ("bytes 100-/1000", nil, "unusable"), ("bytes -100-199/1000", nil, "unusable"),
            ("bytes 100-9223372036854775807/*", nil, "unusable"),
            ("bytes 100-199/99999999999999999999", nil, "unusable"),
            (nil, "100", "unusable"), ("bytes 100-199/1000", "-100", "refused"),
        ] as [(String?, String?, String)])
    func parts(range: String?, length: String?, expected: String) {
        var answer = head(206)
        if let range { answer.headers[.contentRange] = range }
        if let length { answer.headers[.contentLength] = length }
        #expect(judge(answer, .range(100..<200)) == expected)
    }

    @Test("ResponseVerdict: multipart, double and encoded ranges are unusable")
    func combined() {
        let range = (HTTPField.Name.contentRange, "bytes 100-199/1000")
        #expect(judge(head(206, range, (.contentType, "Multipart/byteranges; boundary=x")), .from(100)) == "unusable")
        #expect(judge(head(206, range, (.contentRange, "bytes 200-299/1000")), .from(100)) == "unusable")
        #expect(judge(head(206, range, (.contentEncoding, "gzip")), .from(100)) == "unusable")
        #expect(judge(head(206, range, (.contentEncoding, "identity")), .from(100)) == "part 100..<200 of 1000")
    }

    @Test("ResponseVerdict: an unrequested 206 counts only when it covers the whole file")
    func unasked() {
        #expect(judge(head(206, (.contentRange, "bytes 0-999/1000"))) == "whole 1000")
        #expect(judge(head(206, (.contentRange, "bytes 0-998/1000"))) == "unusable")
        #expect(judge(head(206, (.contentRange, "bytes 0-999/*"))) == "unusable")
    }

    @Test("ResponseVerdict: a 416 gives the length if it has one, and is refused without a requested range")
    func unsatisfied() {
        #expect(judge(head(416, (.contentRange, "bytes */7")), .from(7)) == "unsatisfied 7")
        #expect(judge(head(416), .from(7)) == "unsatisfied -1")
        #expect(judge(head(416, (.contentRange, "bytes 0-6/7")), .from(7)) == "unsatisfied -1")
        // A retry would never end.
        #expect(judge(head(416, (.contentRange, "bytes */7"))) == "refused")
    }

    @Test(
        "ResponseVerdict: of all statuses only 200, 203 and 206 lead to a body",
        arguments: [
            (200, "whole -1"), (201, "refused"), (202, "refused"), (203, "whole -1"), (204, "refused"),
            (101, "refused"), (300, "refused"),
            (304, "notModified"), (400, "refused"), (401, "dead 401"), (403, "dead 403"), (404, "dead 404"),
            (410, "dead 410"), (407, "refused"), (408, "busy 408 -"), (425, "busy 425 -"), (429, "busy 429 -"),
            (500, "busy 500 -"), (501, "refused"), (502, "busy 502 -"), (503, "busy 503 -"), (504, "busy 504 -"),
            (505, "refused"), (599, "busy 599 -"), (600, "refused"), (-1, "refused"), (0, "refused"),
        ])
    func statuses(status: Int, expected: String) { #expect(judge(head(status)) == expected) }

    @Test(
        "ResponseVerdict: a 401 names a scheme that no password answers, and its error asks for a header instead",
        arguments: [
            (["Bearer realm=x"], "bearer"), (["Negotiate", "Bearer"], "negotiate"), (["Bearer", "Basic realm=x"], nil),
            ([], nil), (["Digest realm=x, nonce=n, algorithm=none"], nil),
            ([String(repeating: "x", count: 100)], String(repeating: "x", count: 32)),
        ] as [([String], String?)])
    func unanswerable(fields: [String], scheme: String?) throws {
        var response = head(401)
        for field in fields { response.headers.append(HTTPField(name: .wwwAuthenticate, value: field)) }
        guard case .deadLink(let reason, status: 401) = ResponseVerdict.judge(response, asked: .whole, now: now) else {
            Issue.record("no dead link")
            return
        }
        #expect(reason.description == "the server answered 401" + (scheme.map { " (\($0))" } ?? ""))
        for holdsBytes in [false, true] {
            let error = DownloadError.deadLink(reason, status: 401, holdsBytes: holdsBytes)
            #expect(error.code == .credentials)
            #expect(error.phrase?.key == (scheme == nil ? .asksForCredentials : .asksForField))
            #expect(error.suggestion?.contains("--user") == (scheme == nil))
            // What is not there is not said to be kept.
            #expect(error.suggestion?.contains("is kept") == (scheme == nil && holdsBytes))
        }
    }

    @Test(
        "ResponseVerdict: Retry-After is read in seconds and as a date, capped, or ignored",
        arguments: [
            ("7", "7"), ("Tue, 14 Nov 2023 22:15:20 GMT", "120"), ("Tue, 14 Nov 2003 22:15:20 GMT", "0"),
            ("999999999999999999999", "21600"), ("86400", "21600"), ("-1", "-"), ("soon", "-"), ("1.5", "-"),
        ])
    func retryAfter(field: String, expected: String) {
        #expect(judge(head(503, (.retryAfter, field))) == "busy 503 \(expected)")
    }

    @Test(
        "ResponseVerdict: a Retry-After date counts from the Date of its response",
        arguments: [("Tue, 14 Nov 2023 23:13:20 GMT", "3"), ("Tue, 14 Nov 2003 23:13:20 GMT", "3"), ("today", "7260")])
    func retryAfterDate(date: String, expected: String) throws {
        let server = try #require(HTTPDate.parse(date) ?? HTTPDate.parse("Tue, 14 Nov 2023 23:13:20 GMT"))
        let field = HTTPDate.format(server.addingTimeInterval(expected == "3" ? 3 : 3660))
        #expect(judge(head(503, (.retryAfter, field), (.date, date))) == "busy 503 \(expected)")
    }

    @Test("ResponseVerdict: a 202 with Retry-After is of a file that is being made, and is requested again")
    func accepted() { #expect(judge(head(202, (.retryAfter, "5"))) == "busy 202 5") }

    @Test(
        "ResponseVerdict: a Content-Length that is signed, malformed or too large is refused",
        arguments: ["-5", "+5", "6x", "", "4611686018427387904", "9223372036854775808", "5, 6", "0x10"])
    func lengths(length: String) { #expect(judge(head(200, (.contentLength, length))) == "refused") }

    @Test("Representation: malformed validators are ignored, and framing decides length and ranges")
    func entities() {
        let bare = Representation(head(200, (.eTag, "abc"), (.lastModified, "yesterday")), total: nil)
        #expect(bare.identity.etag == nil && bare.identity.lastModified == nil && bare.endsByClose)
        let chunked = Representation(head(200, (.transferEncoding, "chunked"), (.contentLength, "5")), total: nil)
        #expect(chunked.bodyBytes == nil && !chunked.endsByClose)
        let encoded = Representation(head(200, (.contentEncoding, "gzip"), (.contentLength, "5")), total: 5)
        #expect(encoded.isEncoded && encoded.refusesRanges && encoded.bodyBytes == 5)
        #expect(Representation(head(200, (.acceptRanges, "none")), total: nil).refusesRanges)
        let tag = "\"" + String(repeating: "x", count: 2000) + "\""
        #expect(Representation(head(200, (.eTag, tag)), total: nil).identity.etag == nil)
    }

    @Test("RangeAsk: the Range field names the last byte, inclusive")
    func asks() {
        #expect(RangeAsk.range(0..<1).field == "bytes=0-0" && RangeAsk.from(5).field == "bytes=5-")
        #expect(RangeAsk.whole.field == nil && RangeAsk.whole.start == 0 && RangeAsk.range(7..<9).start == 7)
    }
}
