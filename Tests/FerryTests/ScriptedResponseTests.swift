import Ferry
import HTTPTypes
import Testing

@testable import FerryTestSupport

@Suite("Responses of scripted files")
struct ScriptedResponseTests {
    private let file = ScriptedFile("/a b", bytes: 1000)

    private func response(_ fields: HTTPFields = [:], to target: String = "/a%20b?x=1") -> ScriptedResponse {
        ScriptedResponse(to: target, fields, of: [ScriptedFile("/a"), file])
    }

    @Test(
        "ScriptedResponse: a range of the file is sent as asked, or 416, or the whole file if it cannot be read",
        arguments: [
            ("bytes=0-", 206, 0..<1000), ("bytes=10-19", 206, 10..<20), ("bytes=990-5000", 206, 990..<1000),
            ("bytes=-10", 206, 990..<1000), ("bytes=-5000", 206, 0..<1000), ("bytes=1000-", 416, 0..<0),
            ("bytes=5-9223372036854775807", 206, 5..<1000), ("bytes=9-3", 200, 0..<1000), ("bytes=a-", 200, 0..<1000),
            ("bytes=1-2,4-5", 200, 0..<1000), ("items=1-2", 200, 0..<1000),
        ] as [(String, Int, Range<ByteCount>)])
    func ranges(field: String, status: Int, range: Range<ByteCount>) {
        let response = response([.range: field])
        #expect(response.status == status)
        #expect(response.range == range)
        let total = status == 416 ? "bytes */1000" : "bytes \(range.lowerBound)-\(range.upperBound - 1)/1000"
        #expect(response.fields[.contentRange] == (status == 200 ? nil : total))
    }

    @Test("ScriptedResponse: a validator decides between a range, the whole file and 304")
    func validators() {
        let etag = response().fields[.eTag] ?? ""
        #expect(response([.range: "bytes=5-", .ifRange: etag]).status == 206)
        #expect(response([.range: "bytes=5-", .ifRange: "\"other\""]).range == 0..<1000)
        #expect(response([.ifNoneMatch: etag]).status == 304)
        #expect(response([.ifNoneMatch: "\"other\""]).status == 200)
    }

    @Test("ScriptedResponse: other paths are answered with 404, and a refused file with its status")
    func refusals() {
        #expect(response(to: "/other").status == 404)
        #expect(ScriptedResponse(to: "/x", [:], of: [.refused("/x", status: 503)]).status == 503)
    }

    @Test("ScriptedBody: pieces follow one another up to the end of the range, or to where the script stops")
    func pieces() {
        func read(
            _ pace: ScriptedFile.Pace, _ range: Range<ByteCount>
        ) -> (bytes: [UInt8], pauses: Duration, stops: Bool) {
            var file = ScriptedFile("/f", bytes: 200_000)
            file.pace = pace
            var (body, bytes, pauses) = (ScriptedBody(file, range), [UInt8](), Duration.zero)
            while true {
                switch body.next() {
                case .piece(let piece, let pause):
                    bytes += piece
                    pauses += pause
                case .stop: return (bytes, pauses, true)
                case .end: return (bytes, pauses, false)
                }
            }
        }
        let whole = Array(ScriptedFile("/f", bytes: 200_000).content)
        let all = read(.atOnce, 0..<200_000)
        #expect(all.bytes == whole && all.pauses == .zero && !all.stops)
        let part = read(.bytesPerSecond(20_000), 150_001..<200_000)
        #expect(part.bytes == Array(whole[150_001...]) && part.pauses > .seconds(2.4) && part.pauses < .seconds(2.6))
        let stopped = read(.stops(at: 70_000), 3..<200_000)
        #expect(stopped.bytes == Array(whole[3..<70_000]) && stopped.stops)
        #expect(read(.stops(at: 70_000), 70_000..<80_000).bytes == [])
    }
}
