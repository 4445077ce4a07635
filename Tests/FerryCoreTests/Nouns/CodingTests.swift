import FerryCore
import Foundation
import Testing

@Suite("JSON of nouns")
struct CodingTests {
    static let error = DownloadError(
        .network, "no way to a.example", suggestion: "try later", underlying: "ECONNREFUSED",
        recovery: .transient(retryAfter: .milliseconds(1500)))

    static let reasons: [(WaitReason, String)] = [
        (.slot, #"{"waitReason":"slot"}"#),
        (.server(since: nil, until: nil), #"{"waitReason":"server"}"#),
        (
            .server(
                since: Date(timeIntervalSince1970: 1_760_000_000), until: Date(timeIntervalSince1970: 1_760_000_060)),
            #"{"since":1760000000,"until":1760000060,"waitReason":"server"}"#
        ),
        (.network, #"{"waitReason":"network"}"#),
        (.retry(at: Date(timeIntervalSince1970: 1_760_000_000.5)), #"{"until":1760000000.5,"waitReason":"retry"}"#),
        (.diskSpace, #"{"waitReason":"diskSpace"}"#),
        (.freshLink, #"{"waitReason":"freshLink"}"#),
        (.credentials, #"{"waitReason":"credentials"}"#),
        (.notBefore(Date(timeIntervalSince1970: 1_760_000_000)), #"{"until":1760000000,"waitReason":"notBefore"}"#),
    ]
    @Test("WaitReason: each reason is coded as its documented JSON", arguments: reasons)
    func waitReasons(value: WaitReason, text: String) throws { try check(value, text) }

    static let states: [(DownloadState, String)] = [
        (.waiting(.diskSpace), #"{"state":"waiting","waitReason":"diskSpace"}"#),
        (.downloading, #"{"state":"downloading"}"#),
        (.verifying, #"{"state":"verifying"}"#),
        (.paused, #"{"state":"paused"}"#),
        (
            .failed(DownloadError(.checksum, "it has another digest")),
            #"{"error":{"code":"checksum","message":"it has another digest","messages":{"en":"it has another digest","zh":"文件校验失败：it has another digest"}},"state":"failed"}"#
        ),
        (.completed(.sampled), #"{"proof":"sampled","state":"completed"}"#),
        (.cancelled, #"{"state":"cancelled"}"#),
    ]
    @Test("DownloadState: each state is coded as its documented JSON", arguments: states)
    func downloadStates(value: DownloadState, text: String) throws {
        try check(value, text)
        #expect(text.contains(#""state":"\#(value.kind.rawValue)""#))
    }

    static let errors: [(DownloadError, String)] = [
        (
            error,
            #"{"code":"network","message":"no way to a.example","#
                + #""messages":{"en":"no way to a.example","zh":"网络出错：no way to a.example"},"#
                + #""recovery":{"kind":"transient","retryAfter":1.5},"suggestion":"try later","#
                + #""suggestions":{"en":"try later","zh":"try later"},"underlying":"ECONNREFUSED"}"#
        ),
        (
            DownloadError(.internal, ""),
            #"{"code":"internal","message":"","messages":{"en":"an internal error in Ferry","zh":"Ferry 内部错误"}}"#
        ),
        (
            DownloadError(.credentials, "who?", recovery: .needsUser),
            #"{"code":"credentials","message":"who?","messages":{"en":"who?","zh":"服务器要求提供凭据：who?"},"#
                + #""recovery":{"kind":"needsUser"}}"#
        ),
        (
            DownloadError(.init(rawValue: "of tomorrow"), "new", recovery: .transient(retryAfter: nil)),
            #"{"code":"of tomorrow","message":"new","messages":{"en":"new","zh":"出错了：new"},"#
                + #""recovery":{"kind":"transient"}}"#
        ),
    ]
    @Test("DownloadError: errors and codes of a newer version are coded as their documented JSON", arguments: errors)
    func downloadErrors(value: DownloadError, text: String) throws { try check(value, text) }

    static let finished = FinishedDownload(
        path: "/d/文件.iso", totalBytes: 1 << 53, proof: .single, wasAlreadyComplete: true,
        redactedFinalURL: "https://a.example/x?…", contentType: "application/x-iso", receivedBytes: 12,
        etag: "W/1", lastModified: "Mon, 01 Jan 2024 00:00:00 GMT")
    static let finishedText =
        #"{"contentType":"application/x-iso","etag":"W/1","finalURL":"https://a.example/x?…","#
        + #""lastModified":"Mon, 01 Jan 2024 00:00:00 GMT","path":"/d/文件.iso","proof":"single","#
        + #""receivedBytes":12,"totalBytes":9007199254740992,"wasAlreadyComplete":true}"#
    @Test("FinishedDownload: it is coded as its documented JSON, and optional keys may be missing")
    func finishedDownloads() throws {
        try check(Self.finished, Self.finishedText)
        let least = try read(FinishedDownload.self, #"{"path":"","totalBytes":0,"proof":"none"}"#)
        #expect(least == FinishedDownload(path: "", totalBytes: 0, proof: .none))
    }

    static let events: [(DownloadEvent.Kind, String)] = [
        (.added(url: "https://a.example/x"), #"{"kind":"added","url":"https://a.example/x"}"#),
        (.started(name: "x", totalBytes: nil), #"{"kind":"started","name":"x"}"#),
        (.started(name: "x", totalBytes: 0), #"{"kind":"started","name":"x","totalBytes":0}"#),
        (
            .resumed(offset: 5, totalBytes: 10, reason: "ETag"),
            #"{"kind":"resumed","offset":5,"reason":"ETag","totalBytes":10}"#
        ),
        (
            .retrying(attempt: 3, delay: .nanoseconds(1_250_000_001), reason: "503"),
            #"{"attempt":3,"delay":1.250000001,"kind":"retrying","reason":"503"}"#
        ),
        (.restarted(reason: "changed"), #"{"kind":"restarted","reason":"changed"}"#),
        (.waiting(.network, message: "offline"), #"{"kind":"waiting","message":"offline","waitReason":"network"}"#),
        (.note("n"), #"{"kind":"note","text":"n"}"#),
        (.paused, #"{"kind":"paused"}"#),
        (.completed(finished), #"{"file":\#(finishedText),"kind":"completed"}"#),
        (
            .failed(DownloadError(.disk, "EIO")),
            #"{"error":{"code":"disk","message":"EIO","messages":{"en":"EIO","zh":"磁盘读写出错：EIO"}},"kind":"failed"}"#
        ),
        (.cancelled, #"{"kind":"cancelled"}"#),
    ]
    @Test("DownloadEvent.Kind: each kind is coded as its documented JSON", arguments: events)
    func eventKinds(value: DownloadEvent.Kind, text: String) throws { try check(value, text) }

    @Test("DownloadEvent: the kind is coded beside id, time and number")
    func wholeEvents() throws {
        let event = DownloadEvent(
            id: DownloadID(rawValue: "7"), date: Date(timeIntervalSince1970: 1.25), kind: .note("n"))
        try check(event, #"{"date":1.25,"id":"7","kind":"note","text":"n"}"#)
        let end = DownloadEvent(id: event.id, date: event.date, kind: .cancelled, number: 12)
        try check(end, #"{"date":1.25,"id":"7","kind":"cancelled","number":12}"#)
    }

    @Test("DownloadProgress and DownloadStatus: they are coded as their documented JSON")
    func status() throws {
        let progress = DownloadProgress(
            completedBytes: 1, totalBytes: 4, bytesPerSecond: 0.5, timeRemaining: .seconds(6), connections: 2)
        let text = #"{"bytesPerSecond":0.5,"completedBytes":1,"connections":2,"timeRemaining":6,"totalBytes":4}"#
        try check(progress, text)
        var limited = progress
        limited.bottleneck = Bottleneck(.perConnection, bytesPerSecond: 1.5e6, connections: 2, share: .nan)
        let cause = #"{"bottleneck":{"bytesPerSecond":1500000,"cause":"perConnection","connections":2},"#
        try check(limited, cause + text.dropFirst())
        let newer = #"{"bottleneck":{"cause":"ofANewerVersion"},"# + text.dropFirst()
        #expect(try JSONDecoder().decode(DownloadProgress.self, from: Data(newer.utf8)) == progress)
        try check(DownloadProgress(), #"{"bytesPerSecond":0,"completedBytes":0,"connections":0}"#)
        try check(
            DownloadStatus(id: DownloadID(rawValue: "7"), state: .paused, progress: progress, name: "x", path: "/x"),
            #"{"id":"7","name":"x","path":"/x","progress":\#(text),"state":"paused"}"#)
        let failed = DownloadStatus(
            id: DownloadID(rawValue: "7"), state: .failed(DownloadError(.network, "e")), name: "x",
            retryAt: Date(timeIntervalSince1970: 60))
        let coded = try write(failed)
        #expect(coded.contains(#""retryAt":60"#), "\(coded)")
        #expect(try read(DownloadStatus.self, coded) == failed)
        // Only a failed download has it.
        let paused = coded.replacing(#""state":"failed""#, with: #""state":"paused""#)
        #expect(try read(DownloadStatus.self, paused).retryAt == nil)
    }

    @Test("Nouns: values outside the range of JSON are written as the nearest valid ones")
    func unwritable() throws {
        #expect(try write(DownloadProgress(bytesPerSecond: .infinity)).contains(#""bytesPerSecond":0"#))
        #expect(try write(WaitReason.retry(at: .distantFuture)).contains("64092211200"))
        let far = WaitReason.retry(at: Date(timeIntervalSince1970: .infinity))
        #expect(try read(WaitReason.self, try write(far)) == .retry(at: Date(timeIntervalSince1970: 1e12)))
        let long = DownloadError(.network, "", recovery: .transient(retryAfter: .seconds(Int64.max)))
        let short = DownloadError(.network, "", recovery: .transient(retryAfter: .seconds(1_000_000_000_000)))
        #expect(try read(DownloadError.self, try write(long)) == short)
    }

    @Test("Nouns: an unknown kind or an invalid value is a decoding error that names it")
    func unknownKinds() {
        func reason(_ type: (some Decodable).Type, _ text: String) -> String {
            do {
                _ = try read(type, text)
                return "no error"
            } catch DecodingError.dataCorrupted(let context) {
                return context.debugDescription
            } catch {
                return "\(error)"
            }
        }
        #expect(reason(WaitReason.self, #"{"waitReason":"moon"}"#).hasPrefix("unknown wait reason \"moon\""))
        #expect(reason(DownloadState.self, #"{"state":"Paused"}"#).hasPrefix("unknown state \"Paused\""))
        #expect(reason(DownloadState.self, #"{"state":"completed","proof":"?"}"#).hasPrefix("unknown proof"))
        #expect(reason(DownloadEvent.Kind.self, #"{"kind":""}"#).hasPrefix("unknown event \"\""))
        #expect(
            reason(DownloadError.self, #"{"code":"a","message":"","recovery":{"kind":"x"}}"#).hasPrefix("unknown rec"))
        #expect(reason(DownloadProgress.self, #"{"completedBytes":-1}"#).hasPrefix("a size that cannot be"))
        #expect(reason(WaitReason.self, #"{"waitReason":"retry","until":1e300}"#).hasPrefix("a time out of bounds"))
        #expect(reason(WaitReason.self, #"{"waitReason":"retry"}"#) != "no error")
        #expect(reason(WaitReason.self, #"{"waitReason":7}"#) != "no error")
        #expect(reason(DownloadState.self, "[]") != "no error")
    }

    private func check<Value: Codable & Equatable>(_ value: Value, _ text: String) throws {
        #expect(try write(value) == text)
        #expect(try read(Value.self, text) == value)
    }

    private func write(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .secondsSince1970
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        return try decoder.decode(type, from: Data(text.utf8))
    }
}
