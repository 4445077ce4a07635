import Ferry
import FerryAPI
import FerryCore
import FerryServer
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryAria2

@Suite("aria2's interface", .timeLimit(.minutes(30)))
struct Aria2InterfaceTests {
    @Test("addMetalink: each file of the document is listed below the directory, with its size and digest")
    func metalink() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let (right, wrong) = (Resource(size: 300_000, seed: 1), Resource(size: 300_000, seed: 2))
            rig.origin.serve("/a", right)
            rig.origin.serve("/b", wrong)
            let files = ["a.bin /a", "sub/b.bin /b"].map { $0.split(separator: " ") }.map { file in
                """
                <file name="\(file[0])"><size>300000</size><hash type="sha-256">\(right.sha256)</hash>\
                <url>\(rig.url(String(file[1])))</url></file>
                """
            }
            let document = "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">\(files.joined())</metalink>"
            let gids = try await rig.aria2(.addMetalink, .text(Data(document.utf8).base64EncodedString()))
            let list = try #require(gids.items)
            #expect(list.count == 2)
            _ = try await rig.reach("completed", gid: list[0])
            _ = try await rig.reach("failed", gid: list[1])
            let path = rig.downloads + "/a.bin"
            #expect(right.source.compare(file: path, size: right.size) == .equal)
            #expect(!FileManager.default.fileExists(atPath: rig.downloads + "/sub/b.bin"))
            #expect(try await rig.refusal(of: .addMetalink, .text("%")) != nil)
            let outside = document.replacingOccurrences(of: "a.bin", with: "../a.bin")
            #expect(try await rig.refusal(of: .addMetalink, .text(Data(outside.utf8).base64EncodedString())) != nil)
        }
    }

    @Test("addUri: the download completes in the daemon's list, and tellStatus says so in aria2's words")
    func completes() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let resource = Resource(size: 3 << 20, seed: 1)
            rig.origin.serve("/a.bin", resource)
            let gid = try await rig.addUri("/a.bin")
            let done = try await rig.reach("completed", gid: gid)
            let path = rig.downloads + "/a.bin"
            #expect(resource.source.compare(file: path, size: resource.size) == .equal)
            let size = JSONValue.text(String(resource.size))
            let files: JSONValue = [
                [
                    "index": "1", "path": .text(path), "selected": "true", "length": size, "completedLength": size,
                    "uris": [["uri": .text(rig.url("/a.bin")), "status": "used"]],
                ]
            ]
            let status = try await rig.aria2(.tellStatus, gid)
            #expect(
                status == [
                    "gid": gid, "status": "complete", "totalLength": size, "completedLength": size, "uploadLength": "0",
                    "downloadSpeed": "0", "uploadSpeed": "0", "connections": "0", "pieceLength": "1048576",
                    "numPieces": "3", "bitfield": "e0", "dir": .text(rig.downloads), "files": files, "errorCode": "0",
                    "errorMessage": "",
                ])
            #expect(try await rig.aria2(.getFiles, gid) == files)
            // The same download, under its own identifier.
            #expect(
                try await rig.ask(.show, id: done.id.rawValue).shape(DownloadDetail.self).download.status.path == path)
            let short = try #require(gid.string).prefix(4)
            #expect(try await rig.aria2(.tellStatus, .text(String(short)), ["gid", "none"]) == ["gid": gid])
            #expect(
                try await rig.aria2(.getGlobalStat) == [
                    "downloadSpeed": "0", "uploadSpeed": "0", "numActive": "0", "numWaiting": "0", "numStopped": "1",
                    "numStoppedTotal": "1",
                ])
        }
    }

    @Test("A running download: its written ranges, servers, pause, resume and removal")
    func running() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let gid = try await rig.held("/a.bin")
            let status = try await rig.aria2(.tellStatus, gid)
            #expect(status["status"] == "active")
            #expect(status["bitfield"] == "c0")
            #expect(status["connections"] == "1")
            #expect(status["errorCode"] == nil)
            let active = try await rig.aria2(.tellActive, ["gid", "status"])
            #expect(active == [["gid": gid, "status": "active"]])
            let servers = try await rig.aria2(.getServers, gid)
            #expect(servers.items?.first?["servers"]?.items?.first?["currentUri"] == .text(rig.url("/a.bin")))
            #expect(try await rig.refusal(of: .unpause, gid) == "GID#\(gid.string ?? "") cannot be unpaused now")
            #expect(try await rig.aria2(.pause, gid) == gid)
            #expect(try await rig.refusal(of: .pause, gid) == "GID#\(gid.string ?? "") cannot be paused now")
            #expect(try await rig.refusal(of: .getServers, gid) == "No active download for GID#\(gid.string ?? "")")
            let paused = try await rig.aria2(.tellStatus, gid)
            #expect(paused["status"] == "paused")
            // From the journal.
            #expect(paused["bitfield"] == "c0")
            #expect(try await rig.aria2(.unpauseAll) == "OK")
            _ = try await rig.reach("downloading", gid: gid)
            #expect(try await rig.aria2(.forcePauseAll) == "OK")
            #expect(try await rig.aria2(.tellWaiting, 0, 9, ["status"]) == [["status": "paused"]])
            #expect(try await rig.aria2(.remove, gid) == gid)
            #expect(try await rig.refusal(of: .remove, gid) == "Active Download not found for GID#\(gid.string ?? "")")
            let removed = try await rig.aria2(.tellStatus, gid)
            #expect(removed["status"] == "removed")
            #expect(removed["errorCode"] == "31")
            #expect(try await rig.aria2(.removeDownloadResult, gid) == "OK")
            #expect(try await rig.refusal(of: .tellStatus, gid) == "GID \(gid.string ?? "") is not found")
        }
    }

    @Test("A dead link: an error with aria2's code; its bytes stay when the result is removed, and another URL goes on")
    func deadLink() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let gid = try await rig.heldUntilDead("/a.bin")
            let status = try await rig.aria2(.tellStatus, gid, ["status", "errorCode"])
            #expect(status == ["status": "error", "errorCode": "3"])
            #expect(try await rig.aria2(.tellStopped, -1, 9, ["gid"]) == [["gid": gid]])
            rig.origin.serve("/some", Resource(size: 8 << 20, seed: 6))
            let change = try await rig.aria2(
                .changeUri, gid, 1, [.text(rig.url("/a.bin"))], [.text(rig.url("/some"))])
            #expect(change == [1, 1])
            _ = try await rig.reach("completed", gid: gid)
            #expect(try await rig.aria2(.tellStatus, gid, ["status"]) == ["status": "complete"])
        }
    }

    @Test("removeDownloadResult: the part file of a failed download stays, and a new download goes on with it")
    func keepsBytes() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let gid = try await rig.heldUntilDead("/a.bin")
            #expect(try await rig.refusal(of: .getUris, gid) == "No URI data is available for GID#\(gid.string ?? "")")
            #expect(try await rig.aria2(.purgeDownloadResult) == "OK")
            #expect(try await rig.aria2(.tellStopped, 0, 9) == [])
            #expect(FileManager.default.fileExists(atPath: rig.downloads + "/a.bin.part"))
            let resource = Resource(size: 8 << 20, seed: 6)
            rig.origin.always("/a.bin", .honest)
            let before = rig.origin.requests.count
            let again = try await rig.addUri("/a.bin", options: ["continue": "true"])
            #expect(again != gid)
            _ = try await rig.reach("completed", gid: again)
            #expect(resource.source.compare(file: rig.downloads + "/a.bin", size: resource.size) == .equal)
            #expect(rig.origin.requests.dropFirst(before).allSatisfy { $0.range != nil })
        }
    }

    @Test("changePosition and the lists: in the order of the queue, with offsets as in aria2")
    func order() async throws {
        try await DaemonRig.runWithAria2 { rig in
            var gids: [JSONValue] = []
            for name in ["/a", "/b", "/c"] { gids.append(try await rig.addUri(name, options: ["pause": "true"])) }
            func order() async throws -> [Int?] {
                let waiting = try await rig.aria2(.tellWaiting, 0, 10, ["gid"]).items ?? []
                return waiting.map { item in gids.firstIndex { $0 == item["gid"] } }
            }
            #expect(try await order() == [0, 1, 2])
            #expect(try await rig.aria2(.changePosition, gids[2], 0, "POS_SET") == 0)
            #expect(try await order() == [2, 0, 1])
            #expect(try await rig.aria2(.changePosition, gids[2], 1, "POS_CUR") == 1)
            #expect(try await order() == [0, 2, 1])
            #expect(try await rig.aria2(.changePosition, gids[0], 0, "POS_END") == 2)
            #expect(try await order() == [2, 1, 0])
            #expect(try await rig.aria2(.changePosition, gids[0], .whole(.min), "POS_CUR") == 0)
            #expect(try await rig.aria2(.changePosition, gids[0], .whole(.max), "POS_END") == 2)
            #expect(try await order() == [2, 1, 0])
            #expect(try await rig.refusal(of: .changePosition, gids[0], 0, "POS_X") == "Illegal argument.")
            #expect(try await rig.aria2(.tellWaiting, -1, 2, ["gid"]) == [["gid": gids[0]], ["gid": gids[1]]])
            let first = try await rig.aria2(.addUri, [.text(rig.url("/d"))], ["pause": "true"], 0)
            #expect(try await rig.aria2(.tellWaiting, 0, 1, ["gid"]) == [["gid": first]])
            #expect(
                try await rig.refusal(of: .addUri, [.text(rig.url("/d"))], [:], -1)
                    == "Position must be greater than or equal to 0.")
        }
    }

    @Test("Options: what is given is returned, also after a change; secrets are not")
    func options() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let gid = try await rig.addUri(
                "/a",
                options: [
                    "pause": "true", "split": "3", "min-split-size": "5M", "out": "b.bin", "user-agent": "u",
                    "header": ["Cookie: cAnArY=1", "Accept: x/y"], "http-user": "me", "http-passwd": "cAnArY",
                    "max-download-limit": "1K", "referer": "http://r/", "http-proxy": "http://u:cAnArY@127.0.0.1:9",
                ])
            var options = try await rig.aria2(.getOption, gid)
            for (name, value) in [
                ("split", "3"), ("min-split-size", "5242880"), ("out", "b.bin"), ("user-agent", "u"),
                ("header", "Accept: x/y\n"), ("max-download-limit", "1024"), ("referer", "http://r/"),
                ("dir", rig.downloads), ("continue", "false"), ("all-proxy", "http://127.0.0.1:9"),
            ] { #expect(options[name] == .text(value), "\(name)") }
            #expect(try await rig.aria2(.getFiles, gid).items?.first?["path"] == .text(rig.downloads + "/b.bin"))
            let change: JSONValue = [
                "split": "2", "max-download-limit": "0", "retry-wait": "5", "dir": .text(rig.downloads),
                "nonsense": "1",
            ]
            #expect(try await rig.aria2(.changeOption, gid, change) == "OK")
            options = try await rig.aria2(.getOption, gid)
            for (name, value) in [
                ("split", "2"), ("min-split-size", "5242880"), ("max-download-limit", "0"), ("retry-wait", "5"),
                ("user-agent", "u"),
            ] { #expect(options[name] == .text(value), "\(name)") }
            for change: JSONValue in [["dir": "/tmp"], ["all-proxy": "http://127.0.0.1:1"]] {
                #expect(try await rig.refusal(of: .changeOption, gid, change)?.hasSuffix("in this context.") == true)
            }
            #expect(
                try await rig.refusal(of: .changeOption, gid, ["split": "x"])
                    == "We encountered a problem while processing the option '--split'.")
            // The request has kept them.
            let id = try #require(gid.string.flatMap { Aria2GID($0) }).id
            let request = try #require(try await rig.daemon.manager.download(id: id)).request
            #expect(request.maxConnections == 2)
            #expect(!rig.log.text.contains("cAnArY"))
        }
    }

    @Test("changeGlobalOption: limits are settings of the daemon, options of downloads apply to new ones")
    func globalOptions() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let change: JSONValue = [
                "max-concurrent-downloads": "7", "max-overall-download-limit": "1M", "split": "4", "user-agent": "u",
                "pause": "true", "gid": "00000000000000aa", "http-passwd": "p", "all-proxy": "http://u:p@127.0.0.1:9",
                "rpc-secret": "x", "nonsense": "1",
            ]
            #expect(try await rig.aria2(.changeGlobalOption, change) == "OK")
            let settings = try await rig.ask(.settings).shape(SettingsBody.self)
            #expect(settings.maxConcurrentDownloads == 7)
            #expect(settings.rateLimit == 1 << 20)
            let options = try await rig.aria2(.getGlobalOption)
            for (name, value) in [
                ("max-concurrent-downloads", "7"), ("max-overall-download-limit", "1048576"), ("split", "4"),
                ("user-agent", "u"), ("dir", rig.downloads), ("rpc-listen-port", String(try rig.aria2Port)),
            ] { #expect(options[name] == .text(value), "\(name)") }
            for name in ["pause", "gid", "http-passwd", "all-proxy", "rpc-secret"] { #expect(options[name] == nil) }
            let gid = try await rig.addUri("/a", options: ["pause": "true", "all-proxy": ""])
            #expect(try await rig.aria2(.getOption, gid)["split"] == "4")
            for change: JSONValue in [
                ["log": "/tmp/x"], ["save-session": "/tmp/x"], ["save-cookies": "/tmp/x"], ["dir": "/etc"],
                ["max-concurrent-downloads": "0"],
            ] { #expect(try await rig.refusal(of: .changeGlobalOption, change) != nil, "\(change)") }
        }
    }

    @Test("Duplicates: another download without continue, the listed one with it, and no gid twice")
    func duplicates() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let paused: [String: JSONValue] = ["pause": "true"]
            let first = try await rig.addUri("/a", options: paused)
            #expect(try await rig.addUri("/a", options: paused) != first)
            #expect(try await rig.addUri("/a", options: ["pause": "true", "continue": "true"]) == first)
            let named: JSONValue = ["gid": "0123456789ABCDEF", "pause": "true"]
            #expect(try await rig.aria2(.addUri, [.text(rig.url("/b"))], named) == "0123456789abcdef")
            #expect(try await rig.refusal(of: .addUri, [.text(rig.url("/c"))], named) == "No URI to download.")
            #expect(
                try await rig.refusal(of: .addUri, [.text(rig.url("/c"))], ["gid": "0123"]) == "No URI to download.")
            #expect(try await rig.refusal(of: .addUri, ["magnet:?xt=1", "ftp://a/b"]) == "No URI to download.")
            #expect(try await rig.refusal(of: .addUri, []) == "URI is not provided.")
        }
    }

    @Test("Gids: those of identifiers of any form are the same after a restart; other sessions' downloads have none")
    func restart() async throws {
        try await OriginServer.with { origin in
            let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
            try FileManager.default.createDirectory(atPath: directory + "/downloads", withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: directory) }
            let configure: @Sendable (inout Daemon.Options) -> Void = { options in
                options.doors = [.aria2]
                options.flags[.aria2Rpc] = .whole(0)
                options.flags[.aria2Secret] = .text(DaemonRig.secret)
            }
            let seen = Guarded<JSONValue>([])
            try await DaemonRig.serve(directory, origin, configure) { rig in
                _ = try await rig.addUri("/a", options: ["pause": "true"])
                _ = try await rig.add(rig.new("/b") { ($0.id, $0.startsPaused) = ("mine", true) })
                _ = try await rig.add(rig.new("/c") { $0.startsPaused = true }, session: "app")
                seen.value = try await rig.aria2(.tellWaiting, 0, 10, ["gid", "files"])
                #expect(seen.value.items?.count == 2)
            }
            try await DaemonRig.serve(directory, origin, configure) { rig in
                #expect(try await rig.aria2(.tellWaiting, 0, 10, ["gid", "files"]) == seen.value)
                for item in seen.value.items ?? [] {
                    #expect(try await rig.aria2(.tellStatus, item["gid"] ?? .null, ["gid"])["gid"] == item["gid"])
                }
                let hidden = try await rig.ask(.list, session: "app").shape(DownloadPage.self).items[0].id
                let gid = JSONValue.text(Aria2GID(hidden).description)
                for method in [Aria2Method.tellStatus, .remove, .pause, .getOption, .removeDownloadResult] {
                    #expect(try await rig.refusal(of: method, gid) == "GID \(gid.string ?? "") is not found")
                }
                #expect(try await rig.refusal(of: .tellStatus, "") == "Invalid GID ")
            }
        }
    }

    @Test("shutdown: the response arrives, and the daemon ends")
    func shutdown() async throws {
        try await DaemonRig.runWithAria2 { rig async throws in
            let changes = rig.daemon.manager.listChanges
            #expect(try await rig.aria2(.shutdown) == "OK")
            // Ends when the manager has shut down.
            for await _ in changes {}
        }
    }
}
