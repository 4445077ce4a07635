import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import Testing

@Suite("API bodies")
struct ShapeTests {
    private func again<Shape: Codable>(_ shape: Shape) throws -> Shape {
        try JSONCoding.decode(Shape.self, from: JSONCoding.encode(shape))
    }

    private func read(_ text: String) throws -> DownloadRequest {
        try JSONCoding.decode(Strict<DownloadRequest>.self, from: Data(text.utf8)).body
    }

    @Test("ListedDownload: it is read back as it was written, in every state", arguments: ShapeSamples.states)
    func downloads(state: DownloadState) throws {
        let download = ShapeSamples.download(state)
        #expect(try again(download) == download)
        // Unknown values are null, and are read back.
        let bare = ListedDownload(
            status: DownloadStatus(id: DownloadID(rawValue: "a"), state: state, name: ""), session: "", url: "",
            addedAt: ShapeSamples.date)
        #expect(try again(bare) == bare)
    }

    @Test("EventBody: every kind of event is read back as it was written", arguments: ShapeSamples.kinds)
    func events(kind: DownloadEvent.Kind) throws {
        let event = ShapeSamples.event(kind)
        #expect(try again(event) == event)
    }

    @Test("EventBody: a reason keeps both languages, and an unknown phrase falls back to English")
    func reasons() throws {
        for told in ShapeSamples.told {
            let body = ShapeSamples.event(told)
            let back = try again(body).event
            for language in Language.allCases {
                #expect(back.reason(in: language) == told.reason?.text(in: language), "\(told)")
            }
            let text = String(decoding: try JSONCoding.encode(body), as: UTF8.self)
            let newer = text.replacing(#""phrase":[""#, with: #""phrase":["ofTomorrow"#)
            #expect(newer != text)
            let unknown = try JSONCoding.decode(EventBody.self, from: Data(newer.utf8)).event
            #expect(unknown == back)
            #expect(unknown.reason(in: .simplifiedChinese) == back.reason(in: .english))
        }
    }

    @Test("EventSentence: a note begins with a capital, unless with a name, path or number")
    func capital() {
        func text(_ reason: Reason) -> String {
            EventSentence.text(
                DownloadEvent(id: DownloadID(rawValue: "a"), date: ShapeSamples.date, LocalizedEvent.note(reason)),
                in: .english)
        }
        #expect(text(Reason(.movedTo, "/d/f")) == "Moved to /d/f")
        #expect(text(Reason(.otherContent, "f.iso")).hasPrefix("f.iso is not proven"))
        #expect(
            text(Reason(.oneLeft, Reason(.serverAnswered, "503")))
                == "The server answered 503; going on with 1 connection")
        #expect(text(Reason(.oneLeft, Reason(.connectionReset, "h"))).hasPrefix("h: "))
        #expect(text(.words("as a server says it")) == "as a server says it")
    }

    @Test("EventSentence: the Chinese text of an event has no English sentence", arguments: ShapeSamples.told)
    func translated(told: LocalizedEvent) throws {
        let event = DownloadEvent(id: DownloadID(rawValue: "a"), date: ShapeSamples.date, told)
        let chinese = EventSentence.text(event, in: .simplifiedChinese)
        let twoWords = try Regex("[a-z]{2,}[:;,]? [a-z]{2,}")
        #expect(!chinese.contains(twoWords), "\(chinese)")
        #expect(EventSentence.text(event, in: .english).contains(twoWords), "what is looked for is found in English")
        // A kind whose text differs from its reason is shown with its own text.
        let other = DownloadEvent(
            id: DownloadID(rawValue: "a"), date: ShapeSamples.date,
            LocalizedEvent(.note("something else"), reason: told.reason))
        #expect(EventSentence.text(other, in: .simplifiedChinese) == "something else")
    }

    @Test("NewDownload: a text that is no URL is refused in both languages")
    func urls() throws {
        let error = try #require(throws: DownloadError.self) { try read(#"{"urls":["ftp://h/x?q=1"]}"#) }
        #expect(error.message == #""ftp://h/x?…" has the scheme "ftp", but only http, https and s3 can be downloaded"#)
        #expect(
            error.message(in: .simplifiedChinese)
                == #"网址 "ftp://h/x?…" 无法使用：协议是 "ftp"，而只能下载 http、https 和 s3"#)
    }

    @Test("NewDownload: a text that is no checksum is refused in both languages")
    func checksums() throws {
        let error = try #require(throws: DownloadError.self) { try read(#"{"checksum":"sha256:abc"}"#) }
        #expect(error.message == "a sha-256 checksum has 64 hexadecimal digits, this one has 3")
        #expect(error.message(in: .simplifiedChinese) == "sha-256 校验和应有 64 个十六进制数字，这里有 3 个")
    }

    @Test("ErrorBody and Problem: an error is read back whole, with both languages")
    func errors() throws {
        let error = ShapeSamples.error
        let back = try again(error)
        #expect(back == error)
        #expect(back.message(in: .simplifiedChinese) == error.message(in: .simplifiedChinese))
        #expect(try again(Problem(error)).downloadError == error)
        // An invalid request has one code in the library, at every place of detection.
        #expect(Problem(.badRequest, "x is below 1.").downloadError == DownloadError(.invalidRequest, "x is below 1."))
        #expect(Problem(.noSuchPath).downloadError.code.rawValue == "noSuchPath")
        let text = String(decoding: try JSONCoding.encode(error), as: UTF8.self)
        #expect(text.contains(error.message(in: .simplifiedChinese)))
    }

    @Test("API bodies: details, requests, moves, removals and plans are read back as they were written")
    func others() throws {
        #expect(try again(ShapeSamples.detail) == ShapeSamples.detail)
        #expect(try again(ShapeSamples.new) == ShapeSamples.new)
        #expect(try again(ShapeSamples.change) == ShapeSamples.change)
        #expect(try again(ShapeSamples.settingsChange) == ShapeSamples.settingsChange)
        #expect(try again(TokenItems([ShapeSamples.token])) == TokenItems([ShapeSamples.token]))
        let id = DownloadID(rawValue: "a")
        for place in [ListPlacement.first, .last, .before(id), .after(id), .index(3)] {
            #expect(try again(place) == place)
        }
        #expect(try again(RemovalBody(["a", "b"], deleteFiles: true)) == RemovalBody(["a", "b"], deleteFiles: true))
        for count in [ActionCount(1), ActionCount(1, failures: [ActionFailure("b", ShapeSamples.error)])] {
            #expect(try again(count) == count)
        }
        for plan in [ShapeSamples.plan, DownloadPlan(name: "n", redactedURL: "u")] { #expect(try again(plan) == plan) }
        #expect(try again(ShapeSamples.settings) == ShapeSamples.settings)
    }

    @Test("ChangeBody: a missing member and null are different changes")
    func amendments() throws {
        func change(_ text: String) throws -> RequestChange {
            try JSONCoding.decode(Strict<RequestChange>.self, from: Data(text.utf8)).body
        }
        #expect(try change("{}") == RequestChange())
        var none = RequestChange()
        none.set(.rateLimit, \.rateLimit, nil)
        #expect(try change(#"{"rateLimit":null}"#) == none)
        var some = none
        some.set(.rateLimit, \.rateLimit, 5)
        #expect(try change(#"{"rateLimit":5}"#) == some)
        var request = ShapeSamples.new
        none.apply(to: &request)
        #expect(request.rateLimit == nil && request.label == "l")
        for member in Set(DownloadRequest.CodingKeys.allCases.map(\.rawValue)).subtracting(RequestChange.memberNames) {
            #expect(throws: DecodingError.self, "\(member)") { try change(#"{"\#(member)":null}"#) }
        }
    }

    @Test("every member of a request is one property's, or of its place or credentials; a change has its own members")
    func members() throws {
        let others: Set<DownloadRequest.CodingKeys> = [.directory, .name, .path, .part, .user, .password]
        let own = DownloadRequest.properties.map(\.key)
        #expect(Set(own).union(others) == Set(DownloadRequest.CodingKeys.allCases))
        #expect(own.count == Set(own).count && others.isDisjoint(with: own))
        let written = try JSONValue(JSONCoding.encode(ShapeSamples.change)).members ?? [:]
        #expect(Set(written.keys) == RequestChange.memberNames)
        // Responses contain no secrets and may omit members.
        let shown = try JSONValue(JSONCoding.encode(ShapeSamples.new.withoutSecrets)).members ?? [:]
        #expect(shown["user"] == nil && shown["password"] == nil && shown["label"] == "l")
    }

    @Test(
        "NewDownloads: an unknown member is refused by its name",
        arguments: [#"{"urls":["http://h/"],"urll":1}"#, #"{"downloads":[],"x":1}"#, #"{"downloads":[{"y":1}]}"#])
    func unknownMembers(text: String) {
        #expect {
            try JSONCoding.decode(NewDownloads.self, from: Data(text.utf8))
        } throws: { error in
            Problem(decoding: error).detail?.contains("is not known") == true
        }
    }

    @Test(
        "NewDownloads: a truth value for a number, and a number for a truth value, is refused by its name",
        arguments: [
            #"{"maxConnections":true}"#, #"{"rateLimit":true}"#, #"{"priority":false}"#, #"{"startsPaused":1}"#,
            #"{"allowsMetered":0}"#, #"{"strict":"true"}"#,
        ])
    func types(text: String) throws {
        let name = try #require(text.split(separator: "\"").dropFirst().first)
        let bodies = [text, #"{"downloads":[\#(text)]}"#]
        for body in bodies {
            #expect {
                try JSONCoding.decode(NewDownloads.self, from: Data(body.utf8))
            } throws: { error in
                let problem = Problem(decoding: error)
                return problem.detail?.contains("\(name)”: it is not ") == true
                    && problem.index == (body == text ? nil : 0)
            }
        }
    }

    @Test("Problem: it names the place of the error in a body")
    func problems() {
        func detail(_ text: String) -> String? {
            do { _ = try JSONCoding.decode(NewDownloads.self, from: Data(text.utf8)) } catch {
                return Problem(decoding: error).detail
            }
            return nil
        }
        #expect(detail(#"{"downloads":[{"priority":"x"}]}"#)?.contains("downloads.[0].priority") == true)
        #expect(detail("nonsense") != nil)
        #expect(detail(#"{"urls":["http://h/"],"notBefore":"soon"}"#)?.contains("is not a time") == true)
    }

    private func detail<Body: ClientBody>(of type: Body.Type, _ text: String) -> String? {
        do { _ = try JSONCoding.decode(Strict<Body>.self, from: Data(text.utf8)) } catch {
            return Problem(decoding: error).detail
        }
        return nil
    }

    @Test("Problem: it names the member whose number cannot be represented, and which numbers it may have")
    func unrepresentableNumbers() throws {
        let most = "\(ByteCount.bound - 1)"
        for (text, expected) in [
            (#"{"rateLimit":1.5}"#, "“rateLimit”: it is not a whole number."),
            (#"{"rateLimit":1e400}"#, "“rateLimit”: it is malformed, or not between 1 and \(most)."),
            (#"{"rateLimit":99999999999999999999}"#, "“rateLimit”: it is not between 1 and \(most)."),
            (#"{"priority":99999999999999999999999}"#, "“priority”: it is not between \(Int.min) and \(Int.max)."),
            (#"{"stallTimeout":1e400}"#, "“stallTimeout”: it is malformed, or not between "),
        ] {
            #expect(detail(of: DownloadRequest.self, text)?.hasPrefix(expected) == true, "\(text)")
            #expect(detail(of: RequestChange.self, text)?.hasPrefix(expected) == true, "\(text)")
            #expect {
                try JSONCoding.decode(NewDownloads.self, from: Data(#"{"downloads":[{},\#(text)]}"#.utf8))
            } throws: { error in
                let problem = Problem(decoding: error)
                return problem.detail?.contains(expected.dropFirst()) == true && problem.index == 1
            }
        }
        #expect(detail(of: NewSet.self, #"{"directory":"/d","depth":1.5}"#) == "“depth”: it is not a whole number.")
        #expect(detail(of: SettingsChange.self, #"{"rateLimit":1.5}"#) == "“rateLimit”: it is not a whole number.")
        #expect(detail(of: SettingsChange.self, #"{"retriesFailedAfter":1e400}"#)?.hasPrefix("“retriesFailed") == true)
        #expect(detail(of: PurgeBody.self, #"{"olderThan":1e400}"#)?.hasPrefix("“olderThan”: ") == true)
        #expect(detail(of: AcknowledgeBody.self, #"{"numbers":[1.5]}"#)?.hasPrefix("“numbers”: ") == true)
        #expect(detail(of: ListPlacement.self, #"{"to":{"index":1.5}}"#) == "“to.index”: it is not a whole number.")
    }

    @Test("Problem: a body of another kind is refused with the kind that it must have")
    func kinds() {
        #expect(detail(of: DownloadRequest.self, "null") == "The body: it is null, which is not an object.")
        #expect(detail(of: DownloadRequest.self, "5") == "The body: it is not an object.")
        #expect(detail(of: DownloadRequest.self, #"{"urls":{}}"#) == "“urls”: it is not a list.")
        #expect(detail(of: DownloadRequest.self, #"{"userInfo":[]}"#) == "“userInfo”: it is not an object.")
        #expect(detail(of: DownloadRequest.self, "{")?.hasSuffix("..") == false)
        for text in [#"{"to":null}"#, #"{"to":5}"#, #"{"to":[]}"#] {
            #expect(detail(of: ListPlacement.self, text)?.contains("it must be \"first\"") == true, "\(text)")
        }
    }

    @Test("NewDownload: a request sent through the Unix socket is read back as the same request")
    func requests() throws {
        var request = DownloadRequest(
            sources: [try DownloadURL("http://us%40er:p%3Aw@h:81/a?q=1"), try DownloadURL("https://h2/a")],
            destination: .directory("/d", name: .exact("n")))
        request.headers[.accept] = "a"
        request.headers.append(HTTPField(name: HTTPField.Name("X-B")!, value: "1"))
        request.headers.append(HTTPField(name: HTTPField.Name("X-B")!, value: "2"))
        request.credentials = Credentials(user: "u", password: "p")
        request.checksum = try Checksum(parsing: "md5:" + String(repeating: "a", count: 32))
        request.trust.strict = true
        request.network.allowsMetered = false
        request.notBefore = ShapeSamples.date
        request.id = DownloadID(rawValue: "i d")
        request.priority = .low
        let back = try again(request)
        #expect(back.sources.map(\.credentials) == request.sources.map(\.credentials))
        #expect(back.headers[values: HTTPField.Name("X-B")!] == ["1", "2"])
        var plain = back
        plain.headers = request.headers
        #expect(plain == request)
    }

    @Test(
        "NewDownload: invalid URLs, limits, checksums, ids and credentials are refused",
        arguments: [
            #"{"urls":["ftp://h/"]}"#, #"{"urls":["http://h/"],"maxConnections":0}"#,
            #"{"urls":["http://h/"],"rateLimit":0}"#, #"{"urls":["http://h/"],"checksum":"md5:1"}"#,
            #"{"urls":["http://h/"],"id":"a\nb"}"#, #"{"urls":["http://h/"],"id":".."}"#,
            #"{"urls":["http://h/"],"password":"p"}"#, #"{"path":"/a","directory":"/b"}"#,
            #"{"rateLimit":4611686018427387904}"#, #"{"maxBytes":-1}"#, #"{"maxRedirects":-1}"#,
            #"{"maxRedirects":1001}"#,
            #"{"secretsOrigin":"h"}"#, #"{"proxy":"ftp://h"}"#, #"{"proxy":"socks5://u:p@h"}"#,
            #"{"certificates":"none"}"#, #"{"userAgent":"a\r\nb: c"}"#, #"{"cookies":"a=b"}"#,
            #"{"connectTimeout":0}"#, #"{"stallTimeout":-1}"#, #"{"stallTimeout":1e300}"#, #"{"maxRetries":-1}"#,
            #"{"path":"/d/a\u0000b"}"#, #"{"directory":"/d\u0000/e"}"#, #"{"maxRetries":1000000001}"#,
            #"{"minFreeBytes":4611686018427387904}"#,
        ])
    func refused(text: String) throws {
        #expect(throws: DownloadError.self) { try read(text).checkValues() }
    }

    @Test("HeaderList: invalid names and values are refused", arguments: [#"{"a b":"c"}"#, #"{"A":"x\ny"}"#])
    func headers(text: String) {
        #expect(throws: DecodingError.self) { try JSONCoding.decode(HeaderList.self, from: Data(text.utf8)) }
    }

    @Test("StreamEvent: every event is read back as it was sent, and an unknown name gives nil")
    func stream() throws {
        let events = ShapeSamples.streamed
        for event in events { #expect(try StreamEvent(event.sent(id: nil)) == event) }
        #expect(Set(events.map(\.name)) == Set(StreamEvent.Name.allCases))
        #expect(try StreamEvent(ServerSentEvent(name: "later", data: "{}")) == nil)
    }

    @Test(
        "RFC3339: valid times are parsed and written back",
        arguments: [
            ("2023-11-14T22:13:20.250Z", 1_700_000_000.25), ("2023-11-14t22:13:20z", 1_700_000_000),
            ("2023-11-15T00:13:20+02:00", 1_700_000_000), ("1970-01-01T00:00:00.000Z", 0),
            ("2024-02-29T12:00:00Z", 1_709_208_000), ("2016-12-31T23:59:60Z", 1_483_228_800),
            ("2017-01-01T05:29:60+05:30", 1_483_228_800), ("2023-11-13T22:14:20-23:59", 1_700_000_000),
        ])
    func times(text: String, seconds: Double) throws {
        let date = try #require(RFC3339.date(text))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.0005)
        #expect(RFC3339.date(RFC3339.text(date)) == date)
    }

    @Test(
        "RFC3339: texts that are no complete valid time give nil",
        arguments: [
            "", "soon", "2023-11-14", "2023-13-14T22:13:20Z", "2023-11-14T22:13:20", "2023-11-14T22:13:20.Z",
            "2023-11-14T22:13:20Zx", "2023-02-29T22:13:20Z", "2023-11-00T22:13:20Z", "2023-11-14T24:00:00Z",
            "2023-11-14T22:13:20+24:00", "2023-11-14T22:13:20+25:00", "2023-11-14T22:13:20+02:60",
            "2023-11-14T22:13:60Z", "2026-11-30T23:59:60+25:00", "2016-12-30T23:59:60Z", "2016-12-31T23:59:60+01:00",
        ])
    func noTimes(text: String) { #expect(RFC3339.date(text) == nil) }

    @Test("JSONCoding: JSON nested deeper than the limit is found before it is decoded")
    func depth() {
        #expect(JSONStructure.isShallow(Array(#"{"a":[{"b":"[[[[[[\"[["}]}"#.utf8), depth: 3))
        #expect(!JSONStructure.isShallow(Array("[[[[1]]]]".utf8), depth: 3))
    }

    @Test("JSONStructure: values and names are counted outside of texts, up to a limit")
    func count() {
        func count(_ text: String, upTo most: Int = 100) -> Int? { JSONStructure.count(Array(text.utf8), upTo: most) }
        #expect(count("1") == 1 && count("[1,2,3]") == 4 && count(#"{"a":[],"b":2}"#) == 6)
        #expect(count(#"["[,,,\"::",2]"#) == 3 && count("\"[[[") == 1)
        #expect(count("[1,2,3]", upTo: 4) == 4 && count("[1,2,3]", upTo: 3) == nil)
    }

    @Test("ListedDownload: the pause reason is read back, and an unknown one is ignored")
    func pauseReason() throws {
        var download = ShapeSamples.download(.paused)
        #expect(try again(download).status.pauseReason == nil)
        download.status.pauseReason = .crashes
        #expect(try again(download) == download)
        #expect(try JSONCoding.decode(DownloadStatus.self, from: JSONCoding.encode(download.status)) == download.status)
        let text = String(decoding: try JSONCoding.encode(download), as: UTF8.self)
        let newer = text.replacing(#""pauseReason":"crashes""#, with: #""pauseReason":"moon""#)
        #expect(newer != text)
        #expect(try JSONCoding.decode(ListedDownload.self, from: Data(newer.utf8)).status.pauseReason == nil)
    }

    @Test("ListedDownload: the error of a wait is read back, and one that does not wait has none")
    func waitError() throws {
        var download = ShapeSamples.download(.waiting(.freshLink))
        download.status.waitError = ShapeSamples.error
        let found = try again(download).status
        #expect(found.waitError == ShapeSamples.error)
        #expect(found.waitError?.phrase == ShapeSamples.error.phrase)
        #expect(try again(ShapeSamples.download(.failed(ShapeSamples.error))).status.waitError == nil)
    }
}
