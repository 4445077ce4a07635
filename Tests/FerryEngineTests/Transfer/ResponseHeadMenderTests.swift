import Testing

@testable import FerryEngine

@Suite("Unusual response heads")
struct ResponseHeadMenderTests {
    private static func mend(_ text: String, pieces: Int = .max) -> String {
        String(decoding: mend(Array(text.utf8), pieces: pieces), as: UTF8.self)
    }

    private static func mend(_ bytes: [UInt8], pieces: Int = .max) -> [UInt8] {
        var mender = ResponseHeadMender()
        mender.begin()
        var result: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            result += mender.receive(rest.prefix(pieces)) ?? Array(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
        }
        return result + mender.finish()
    }

    @Test(
        "ResponseHeadMender: what RFC 9112 gives a meaning is rewritten, however the bytes are divided",
        arguments: [
            ("X: a\r\n  b\r\n\tc\r\n", "X: a b c\r\n"), ("Content-Length:\t5\r\n", "Content-Length: 5\r\n"),
            ("Content-Length: 5\r\nA: b\r\ncontent-length: 5\r\n", "Content-Length: 5\r\nA: b\r\n"),
            ("Content-Length: 5,5 , 5\r\n", "Content-Length: 5\r\n"), ("A: b\nC: d\n", "A: b\r\nC: d\r\n"),
            ("A : b\r\n", "A: b\r\n"), ("A: b\r\n \t\r\nC: d\r\n", "A: b\r\nC: d\r\n"),
        ], [1, 2, 7, Int.max])
    func mended(_ fields: (String, String), pieces: Int) {
        let body = "body\n\nHTTP/1.1 200 OK\n A : b\n\n"
        let end = fields.0.utf8.contains(0x0D) ? "\r\n" : "\n"
        #expect(
            Self.mend("HTTP/1.1 200 OK\(end)\(fields.0)\(end)\(body)", pieces: pieces)
                == "HTTP/1.1 200 OK\r\n\(fields.1)\r\n\(body)")
    }

    @Test(
        "ResponseHeadMender: what has no certain meaning stays for the parser to refuse",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: +5, +5\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n : x\r\n\r\n",
            "HTTP/1.1 200 OK\r\n folded: first\r\n\r\n", "ICY 200 OK\n\nmusic",
            "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\nA: b", "",
        ], [1, Int.max])
    func kept(text: String, pieces: Int) { #expect(Self.mend(text, pieces: pieces) == text) }

    @Test(
        "ResponseHeadMender: bytes that are no UTF-8 are percent-encoded in Location, and decoded in Content-Disposition",
        arguments: [
            ("Location: /caf\u{E9}", "Location: /caf%E9"),
            ("location: /d\u{E9}j\u{E0}?\u{FC}", "location: /d%E9j%E0?%FC"),
            (
                "Content-Disposition: attachment; filename=\"caf\u{E9}.txt\"",
                "Content-Disposition: attachment; filename=\"café.txt\""
            ),
            (
                "Content-Disposition: x; filename=\"\u{B1}\u{A8}\u{B8}\u{E6}.txt\"",
                "Content-Disposition: x; filename=\"报告.txt\""
            ),
        ], [1, Int.max])
    func illegible(_ line: (String, String), pieces: Int) {
        // The scalars of the literals are the bytes.
        let bytes = line.0.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        let (begin, end) = (Array("HTTP/1.1 302 Found\r\n".utf8), Array("\r\n\r\n\u{E9}".utf8))
        #expect(Self.mend(begin + bytes + end, pieces: pieces) == begin + Array(line.1.utf8) + end)
    }

    @Test("ResponseHeadMender: UTF-8 in any field, and other bytes in other fields, stay as they are")
    func bytes() {
        let text = "HTTP/1.1 302 Found\r\nLocation: /café\r\nContent-Disposition: x; filename=\"é.txt\"\r\n\r\n"
        #expect(Self.mend(text) == text)
        let head = Array("HTTP/1.1 200 OK\r\nX-A: ".utf8) + [0xE9] + Array("\r\n\r\n".utf8)
        #expect(Self.mend(head) == head)
    }

    @Test("ResponseHeadMender: the head after an interim one is mended too, and what is no head is passed on at once")
    func interim() {
        #expect(
            Self.mend("HTTP/1.1 103 Early\n\nHTTP/1.1 200 OK\nA: b\n\nok\n", pieces: 3)
                == "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nok\n")
        var mender = ResponseHeadMender()
        mender.begin()
        #expect(mender.receive("SSH".utf8) == Array("SSH".utf8))
        #expect(mender.receive(" : x\n\n".utf8) == nil)
    }

    @Test("ResponseHeadMender: no more of a head is held than the limit")
    func bounded() {
        var mender = ResponseHeadMender()
        mender.begin()
        var passed = mender.receive("HTTP/1.1 200 OK\r\n".utf8)?.count ?? 17
        for _ in 0..<70 { passed += mender.receive([UInt8](repeating: 0x61, count: 1024))?.count ?? 1024 }
        #expect(mender.receive([0x61]) == nil)
        #expect(passed == 17 + 70 * 1024)
    }

    @Test("ResponseHeadMender: a piece that begins with a plain head passes unchanged, one that needs mending does not")
    func plain() {
        func passes(_ head: String) -> Bool {
            var mender = ResponseHeadMender()
            mender.begin()
            return mender.receive(Array("\(head)\r\nbody".utf8)) == nil
        }
        #expect(passes("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Y: a b,c\r\n"))
        for field in [
            "X : y", "X:y ", "X: y ", " folded", "Content-Length: 4,4", "X: y\nA : b", "Location: /caf\u{E9}",
            "Content-Length: 4\r\nContent-Length: 4",
        ] {
            #expect(!passes("HTTP/1.1 200 OK\r\nA: b\r\n\(field)\r\n"), "\(field)")
        }
        #expect(!passes("HTTP/1.1 103 Early\r\nA: b\r\n"))
    }
}
