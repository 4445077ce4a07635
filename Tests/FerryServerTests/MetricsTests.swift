import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import FerryMetrics
@testable import FerryServer

@Suite("Metrics of the daemon", .timeLimit(.minutes(30))) struct MetricsTests {
    /// The value of a series, as it is written.
    private static func value(_ series: String, _ text: String) -> Double? {
        for line in text.split(separator: "\n") {
            guard line.hasPrefix(series + " ") else { continue }
            return Double(line.dropFirst(series.count + 1))
        }
        return nil
    }

    @Test("Metrics over the Unix socket: what was downloaded, how it ended, and what is in the list")
    func values() async throws {
        try await DaemonRig.run { rig in
            let before = try await rig.send("GET", "/metrics")
            #expect(before.status == 200)
            #expect(before.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(before.headers["cache-control"] == "no-store")
            #expect(Self.value("ferry_downloads_added_total", before.text) == 0)
            #expect(
                Self.value(#"ferry_downloads_ended_total{result="completed",reason="downloaded"}"#, before.text) == 0)

            rig.origin.always("/lost", .status(451))
            let file = try await rig.add(rig.new("/file/3000000") { $0.maxConnections = 1 })
            let lost = try await rig.add(rig.new("/lost?token=s3cret"))
            #expect(try await rig.reach("completed", file.id).status.state.kind == .completed)
            #expect(try await rig.reach("failed", lost.id).status.state.kind == .failed)
            let text = try await rig.send("GET", "/metrics").text
            func expect(_ series: String, _ number: Double) {
                #expect(Self.value(series, text) == number, "\(series)\n\(text)")
            }
            expect("ferry_received_bytes_total", 3_000_000)
            expect("ferry_downloads_added_total", 2)
            expect(#"ferry_downloads_ended_total{result="completed",reason="downloaded"}"#, 1)
            expect(#"ferry_requests_total{result="4xx"}"#, 1)
            expect("ferry_download_seconds_count", 1)
            expect(#"ferry_download_seconds_bucket{le="+Inf"}"#, 1)
            expect(#"ferry_downloads{state="completed"}"#, 1)
            expect(#"ferry_downloads{state="failed"}"#, 1)
            expect(#"ferry_info{version="\#(FerryVersion.text)"}"#, 1)
            expect("ferry_slots", 3)
            #expect(try #require(Self.value(#"ferry_requests_total{result="2xx"}"#, text)) >= 1)
            #expect(try #require(Self.value("ferry_first_byte_seconds_count", text)) >= 2)
            #expect(try #require(Self.value(#"ferry_catalogue_seconds_count{operation="write"}"#, text)) >= 2)
            #expect(try #require(Self.value("ferry_free_bytes", text)) > 0)
            #expect(text.contains(#"ferry_downloads_ended_total{result="failed",reason="refused"} 1"#))
            #expect(!text.contains("s3cret") && !text.contains("/lost") && !text.contains("/file"))
            // Each metric of the code is there, with its type.
            for metric in Metric.ofDownloads + Metric.ofManager + Metric.ofProcess + Metric.ofDaemon {
                #expect(text.contains("# TYPE \(metric.name) \(metric.kind.rawValue)\n"), "\(metric)")
            }
        }
    }

    @Test("Metrics: while a download runs, its server is named, with its connections")
    func hosts() async throws {
        try await DaemonRig.run { rig in
            rig.origin.script("/file/3000000", [.stall(after: 200_000)])
            let held = try await rig.add(rig.new("/file/3000000") { $0.maxConnections = 1 })
            let download = try #require(try await rig.daemon.manager.download(id: held.id))
            for await status in download.updates where status.progress.completedBytes >= 200_000 { break }
            let text = try await rig.send("GET", "/metrics").text
            let host = rig.origin.url("").split(separator: "/").prefix(2).joined(separator: "//")
            #expect(Self.value("ferry_host_connections{host=\"\(host)\"}", text) == 1, "\(text)")
            #expect(Self.value("ferry_connections", text) == 1)
            #expect(Self.value("ferry_hosts", text) == 1)
            #expect(Self.value(#"ferry_downloads{state="downloading"}"#, text) == 1)
        }
    }

    @Test("Metrics on the port of the page: refused without and with a token, and for pages")
    func page() async throws {
        try await DaemonRig.run { rig in
            let port = try #require(rig.addresses.port)
            #expect(rig.addresses.doors["metrics"] == nil && rig.daemon.doors.all.isEmpty)
            #expect(try await rig.send("GET", "/metrics", port: port).status == 401)
            let fields = ["Authorization": "Bearer \(rig.token)"]
            #expect(try await rig.send("GET", "/metrics", headers: fields, port: port).status == 403)
            #expect(try await rig.send("POST", "/metrics", headers: ["Content-Type": "application/json"]).status == 405)
            #expect(!FileManager.default.fileExists(atPath: rig.place.state + "/metrics-token"))
        }
    }

    @Test("Metrics on their own port: for the token of the file alone, which opens nothing else")
    func token() async throws {
        try await DaemonRig.run { options in
            options.flags[.metricsPort] = .whole(0)
            options.limits.wrongToken = .zero
            // Every connection is of another user then.
            options.user = 4_000_000_000
        } _: { rig in
            let port = try #require(rig.addresses.doors["metrics"])
            let file = try #require(PrivateFile(rig.place.state + "/metrics-token", most: 100).read())
            let token = file.trimmingCharacters(in: .whitespacesAndNewlines)
            func status(
                _ path: String = "/metrics", _ method: String = "GET", with fields: [String: String]
            ) async throws -> Int {
                try await rig.send(method, path, headers: fields, port: port).status
            }
            let own = ["Authorization": "Bearer \(token)"]
            let reply = try await rig.send("GET", "/metrics", headers: own, port: port)
            #expect(reply.status == 200)
            #expect(reply.text.hasPrefix("# HELP ferry_"))
            #expect(try await status("/metrics?x=1", with: own) == 200)
            #expect(try await status(with: [:]) == 401)
            #expect(try await status(with: ["Authorization": "Bearer \(rig.token)"]) == 401)
            #expect(try await status(with: ["Authorization": "Bearer \(token)x"]) == 401)
            #expect(try await status(with: ["Authorization": "Basic \(token)"]) == 401)
            // Nothing else is there, and pages cannot ask.
            for path in ["/", "/api/v1", "/api/v1/downloads", "/metrics/", "/jsonrpc"] {
                #expect(try await status(path, with: own) == 404, "\(path)")
            }
            #expect(try await status("/metrics", "POST", with: own) == 405)
            for fields in [
                ["Origin": "http://127.0.0.1:\(port)"], ["Sec-Fetch-Site": "same-origin"],
                ["Sec-Fetch-Site": "cross-site"],
            ] {
                #expect(try await status(with: own.merging(fields) { $1 }) == 403, "\(fields)")
            }
            #expect(try await status(with: own.merging(["Host": "rebound.example:\(port)"]) { $1 }) == 421)
        }
    }
}
