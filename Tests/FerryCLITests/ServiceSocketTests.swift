import AsyncHTTPClient
import CFerry
import FerryAPI
import FerryTesting
import Foundation
import NIOCore
import NIOHTTP1
import Testing

#if canImport(Glibc)
    import Glibc

    /// The daemon as systemd starts it: with sockets that are listening already, and a socket to report to.
    @Suite("The binary: sockets of a service", .timeLimit(.minutes(30))) struct ServiceSocketTests {
        /// Makes a listening Unix socket.
        private static func unix(_ path: String) throws -> Int32 {
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let descriptor = socket(AF_UNIX, ferry_SOCK_STREAM, 0)
            let status = withUnsafePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(status == 0 && listen(descriptor, 8) == 0)
            return descriptor
        }

        /// Makes a TCP socket of IPv4, which listens unless that is not wanted, and its port.
        private static func tcp(_ address: String, listens: Bool = true) throws -> (descriptor: Int32, port: Int) {
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_addr.s_addr = inet_addr(address)
            let descriptor = socket(AF_INET, ferry_SOCK_STREAM, 0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
                }
            }
            try #require(status == 0)
            if listens { try #require(listen(descriptor, 8) == 0) }
            return (descriptor, Int(UInt16(bigEndian: name.sin_port)))
        }

        /// Starts `ferry serve` with these descriptors as 3 and, if there is a second, 4.
        private static func start(
            _ first: Int32, _ second: Int32? = nil, in place: Workplace, environment: [String: String] = [:],
            arguments: [String] = []
        ) throws -> FerryProcess {
            let count = second == nil ? 1 : 2
            let other = second.map { FileHandle(fileDescriptor: $0, closeOnDealloc: true) }
            let errors = place.path("errors")
            return try FerryProcess(
                ["serve", "-d", place.path("downloads")] + arguments, in: place,
                environment: ServeProcess.environment(place).merging(environment) { $1 },
                output: .handle(FileHandle(fileDescriptor: first, closeOnDealloc: true)),
                error: other.map { .handle($0) } ?? .captured,
                shell: """
                    export LISTEN_PID=$$ LISTEN_FDS=\(count) LISTEN_FDNAMES=a:b
                    exec "$@" 3<&1 \(second == nil ? "" : "4<&2") >/dev/null 2>'\(errors)'
                    """, limit: 500)
        }

        private static func get(_ url: String, token: String? = nil) async throws -> Int {
            let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .minutes(8))
            _ = try await response.body.collect(upTo: 1 << 20)
            return Int(response.status.code)
        }

        @Test("Sockets that are handed over are served, reported, and left where they are at the end")
        func served() async throws {
            let place = try Workplace()
            let path = ServeProcess.environment(place)["FERRY_SOCKET"] ?? ""
            let notices = try DatagramReceiver(at: place.path("notify"))
            let (unix, tcp) = (try Self.unix(path), try Self.tcp("127.0.0.1"))
            let process = try Self.start(
                unix, tcp.descriptor, in: place,
                environment: ["NOTIFY_SOCKET": place.path("notify"), "WATCHDOG_USEC": "200000"])
            // The connection waits in the socket's queue until the daemon accepts it.
            let socket = path.replacing("/", with: "%2F")
            #expect(try await Self.get("http+unix://\(socket)/api/v1") == 200)
            #expect(try await Self.get("http://127.0.0.1:\(tcp.port)/") == 200)
            var seen: [String] = []
            while !["READY", "WATCHDOG"].allSatisfy({ word in seen.contains { $0.contains("\(word)=1") } }) {
                seen.append(try notices.next())
            }
            // Programs that it starts get neither the sockets nor the variables: see the suite "ChildEnvironment".
            process.signal(SIGTERM)
            while !(seen.last ?? "").contains("STOPPING=1") { seen.append(try notices.next()) }
            let outcome = try await process.outcome()
            #expect(outcome.code == 0, "\(place.text("errors"))")
            #expect(FileManager.default.fileExists(atPath: path))
        }

        @Test(
            "A descriptor that is no listening socket of loopback is refused with exit code 2",
            arguments: ["file", "silent", "everywhere", "elsewhere"])
        func refused(kind: String) async throws {
            let place = try Workplace()
            let descriptor: Int32
            switch kind {
            case "file": descriptor = open("/dev/null", O_RDWR)
            case "silent": descriptor = try Self.tcp("127.0.0.1", listens: false).descriptor
            case "everywhere": descriptor = try Self.tcp("0.0.0.0").descriptor
            default: descriptor = try Self.unix(place.path("other/socket"))
            }
            let outcome = try await Self.start(descriptor, in: place).outcome()
            #expect(outcome.code == 2, "\(place.text("errors"))")
            #expect(place.text("errors").contains("socket"))
            #expect(!FileManager.default.fileExists(atPath: place.path("state/sessions")))
        }

        @Test("Sockets for another process are not touched: the daemon makes its own")
        func foreign() async throws {
            let place = try Workplace()
            let serve = try await ServeProcess.start(
                in: place, environment: ["LISTEN_PID": "1", "LISTEN_FDS": "1"])
            #expect(serve.listening?.port != nil)
            try await serve.stop()
        }
    }

    extension Workplace {
        /// The text of a file; empty if there is none.
        fileprivate func text(_ name: String) -> String {
            (try? String(contentsOfFile: path(name), encoding: .utf8)) ?? ""
        }
    }
#endif
