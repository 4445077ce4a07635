import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

/// A secret that is recognisable in any text.
@Suite("Secrets of the daemon", .timeLimit(.minutes(30)))
struct CanaryTests {
    @Test("Daemon: secrets of a download are only in the secrets file, and its query in no log")
    func canary() async throws {
        let (password, header, userInfo) = ("cAnArYpassword", "cAnArYheader", "cAnArYuserinfo")
        let (proxyPassword, cookie) = ("cAnArYproxy", "cAnArYcookie")
        let query = "cAnArYquery"
        try await DaemonRig.run(settings: #"{"proxy": "http://u:\#(proxyPassword)@127.0.0.1:9"}"#) { rig in
            rig.origin.serve("/a.bin", Resource(size: 4 << 20, seed: 6))
            rig.origin.always("/a.bin", .stall(after: 1 << 20))
            var texts: [String] = []
            try await rig.follow { events in
                _ = try await events.catchUp()
                let url = rig.url("/a.bin?key=\(query)").replacing("http://", with: "http://me:\(userInfo)@")
                var new = RawRequest(urls: [url])
                new.maxConnections = 1
                let fields = #"{"X-Key":"\#(header)"}"#
                new.headers = try JSONCoding.decode(HeaderList.self, from: Data(fields.utf8))
                new.user = "me"
                new.password = password
                new.proxy = "none"
                new.cookies = "127.0.0.1\tFALSE\t/\tFALSE\t0\tid\t\(cookie)\n"
                let listed = try await rig.add(new)
                let download = try #require(try await rig.daemon.manager.download(id: listed.id))
                for await status in download.updates where status.progress.completedBytes >= 1 << 20 { break }
                _ = try await rig.ask(.pause, id: listed.id.rawValue)
                let paused: StreamEvent = try await events.next { event in
                    if case .state(let d) = event, d.status.state == .paused { return event }
                    if let text = try? event.data() { texts.append(String(decoding: text, as: UTF8.self)) }
                    return nil
                }
                texts.append(String(decoding: try paused.data(), as: UTF8.self))
                for route in [Route.show, .history, .list, .sessions, .settings] {
                    texts.append(try await rig.ask(route, id: listed.id.rawValue).text)
                }
                var proxied = new
                proxied.urls = ["http://127.0.0.1:9/b"]
                proxied.proxy = "http://u:\(proxyPassword)@127.0.0.1:9"
                proxied.startsPaused = true
                let second = try await rig.ask(.add, body: proxied)
                #expect(second.status == 201)
                texts.append(second.text)
                let change = [DownloadRequest.CodingKeys.proxy.rawValue: "ftp://u:\(proxyPassword)@h"]
                texts.append(try await rig.ask(.change, id: listed.id.rawValue, body: change).text)
                texts.append(try await rig.ask(.changeSettings, body: change).text)
                var bad = new
                bad.checksum = "nonsense"
                texts.append(try await rig.ask(.add, body: bad).text)
                bad = new
                bad.urls = [url.replacing("http:", with: "ftp:")]
                texts.append(try await rig.ask(.add, body: bad).text)
            }
            for text in texts {
                for secret in [password, header, userInfo, proxyPassword, cookie] {
                    #expect(!text.contains(secret), "\(text)")
                }
            }
            let log = rig.log.text
            for secret in [password, header, userInfo, proxyPassword, cookie, query, rig.token] {
                #expect(!log.contains(secret))
            }
            var looked = 0
            for case let file as String in FileManager.default.enumerator(atPath: rig.directory)! {
                let path = rig.directory + "/" + file
                guard let data = FileManager.default.contents(atPath: path) else { continue }
                looked += 1
                for secret in [password, header, userInfo, proxyPassword, cookie]
                where data.range(of: Data(secret.utf8)) != nil {
                    // The settings file is the user's own.
                    let isSetting = file == "ferry.json" && secret == proxyPassword
                    #expect(file.contains("/secrets/") || isSetting, "\(secret) in \(file)")
                }
            }
            #expect(looked > 3)
            let secrets = rig.place.catalogue + "/secrets"
            #expect(try FileManager.default.contentsOfDirectory(atPath: secrets).count == 2)
            for item in try await rig.ask(.list).shape(DownloadPage.self).items {
                _ = try await rig.ask(.cancel, id: item.id.rawValue)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: secrets) == [])
        }
    }

    @Test("Daemon: a URL's query is in no log, event, history or error")
    func query() async throws {
        let query = "cAnArYquery"
        try await DaemonRig.run { rig in
            rig.origin.serve("/gone", Resource(size: 1000, seed: 6))
            rig.origin.always("/gone", .status(451))
            var texts: [String] = []
            try await rig.follow { events in
                _ = try await events.catchUp()
                let listed = try await rig.add(rig.new("/gone?key=\(query)"))
                let end: StreamEvent = try await events.next { event in
                    // A state event contains the download's URL.
                    if case .state = event { return nil }
                    if case .happened(let body) = event, body.event.id == listed.id, case .failed = body.event.kind {
                        return event
                    }
                    if let data = try? event.data() { texts.append(String(decoding: data, as: UTF8.self)) }
                    return nil
                }
                texts.append(String(decoding: try end.data(), as: UTF8.self))
                texts.append(try await rig.ask(.history, id: listed.id.rawValue).text)
            }
            #expect(texts.count >= 2 && texts.suffix(2).allSatisfy { $0.contains("failed") }, "\(texts)")
            var bad = rig.new("/gone?key=\(query)")
            bad.checksum = "nonsense"
            var refused = [bad]
            for url in ["ftp://h/a?key=\(query)", "http://[::1/?key=\(query)", "/a?key=\(query)"] {
                refused.append(RawRequest(urls: [url]))
            }
            for new in refused {
                let reply = try await rig.ask(.add, body: new)
                #expect(reply.status == 400, "\(reply.text)")
                texts.append(reply.text)
            }
            for text in texts + [rig.log.text] { #expect(!text.contains(query), "\(text)") }
        }
    }
}
