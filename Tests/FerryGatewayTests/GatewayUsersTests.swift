import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Testing

@testable import FerryGateway
@testable import FerryServer

#if canImport(Glibc)
    import Glibc

    @Suite("The gateway and the users of the machine", .timeLimit(.minutes(30)))
    struct GatewayUsersTests {
        private static func ask(_ rig: DaemonRig, _ target: String = "/gw/pypi/simple/") async throws -> String {
            let port = try #require(rig.addresses.doors["gateway"])
            return try await OtherUser.send(
                "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n", port: port)
        }

        @Test(
            "A program of another user is told who may use the gateway, also as its proxy, and the log names the user",
            .enabled(if: OtherUser.isPossible, "only root can be somebody else"))
        func refused() async throws {
            try await DaemonRig.runWithGateway { rig in
                rig.origin.route("/simple/") { _ in .page(200, "packages") }
                for target in ["/gw/pypi/simple/", "http://archive.example/debian/pool/x.deb"] {
                    let text = try await Self.ask(rig, target)
                    #expect(text.hasPrefix("HTTP/1.1 403 Forbidden (not for user "))
                    #expect(text.contains("ferry serve --gateway-users"))
                    #expect(!text.contains("packages"))
                }
                await rig.log.wait(for: "the gateway refused another user")
                #expect(rig.log.text.contains("\(OtherUser.number)"))
                #expect(rig.origin.requests.isEmpty)
                // Those connections have evicted none of this user's.
                #expect(try await rig.gateway("/gw/pypi/simple/").text == "packages")
            }
        }

        @Test(
            "A program of a user that the settings name, or of any with all, is served",
            .enabled(if: OtherUser.isPossible, "only root can be somebody else"), arguments: ["65534", "all"])
        func admitted(users: String) async throws {
            try await DaemonRig.runWithGateway(configure: { $0.flags[.gatewayUsers] = .list([.text(users)]) }) { rig in
                rig.origin.route("/simple/") { _ in .page(200, "packages") }
                let text = try await Self.ask(rig)
                #expect(text.hasPrefix("HTTP/1.1 200") && text.hasSuffix("packages"))
                // The page is for the daemon's own user alone.
                let port = try #require(rig.addresses.port)
                #expect(try await OtherUser.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", port: port) == "")
            }
        }

        @Test(
            "A program in a container of the daemon's user is served by the number that the user gives to containers",
            .enabled(if: OtherUser.isPossible, "only root can be somebody else"),
            arguments: [("0:65000:1000", true), ("0:65000:534", false), ("7:65000:1000", false)])
        func container(numbers: String, isServed: Bool) async throws {
            try await DaemonRig.runWithGateway(configure: { $0.subordinates = numbers + "\n" }) { rig in
                rig.origin.route("/simple/") { _ in .page(200, "packages") }
                let text = try await Self.ask(rig)
                #expect(text.hasPrefix("HTTP/1.1 \(isServed ? 200 : 403)"))
            }
        }

        @Test(
            "Files that another user reads slowly leave places for the daemon's own user",
            .enabled(if: OtherUser.isPossible, "only root can be somebody else"), arguments: ["65534", "all"])
        func places(users: String) async throws {
            try await DaemonRig.runWithGateway(configure: { options in
                options.flags[.gatewayUsers] = .list([.text(users)])
                options.limits.mostReaders = 8
            }) { rig in
                // More than the buffers of a connection hold.
                rig.origin.serve("/x.zip", Resource(size: 30_000_000, seed: 7))
                rig.origin.route("/simple/x/") { _ in .page(200, "<a href=/x.zip>x</a>") }
                let page = try await rig.gateway("/gw/pypi/simple/x/").text
                let path = String(try #require(page.firstMatch(of: /href="([^"]*)"/)?.1))
                let port = try #require(rig.addresses.doors["gateway"])
                let lines = try await OtherUser.run(["/bin/bash", "-c", Self.reading(path, port, times: 3)])
                #expect(
                    lines.split(whereSeparator: \.isNewline).map { $0.prefix(12) } == [
                        "HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 503",
                    ])
            }
        }

        /// A script that begins to read a file several times, one beside the other, and prints the status lines.
        private static func reading(_ path: String, _ port: Int, times: Int) -> String {
            let head = "GET \(path) HTTP/1.1\\r\\nHost: 127.0.0.1:\(port)\\r\\nConnection: close\\r\\n\\r\\n"
            return """
                for n in {3..\(2 + times)}; do
                    eval "exec $n<>/dev/tcp/127.0.0.1/\(port)"; printf '\(head)' >&$n; read -r line <&$n; echo "$line"
                done
                """
        }

        @Test("Connections to the gateway without a request evict none to the page")
        func connections() async throws {
            try await DaemonRig.runWithGateway(configure: { $0.limits.mostUnknown = 2 }) { rig in
                let (page, port) = (try #require(rig.addresses.port), try #require(rig.addresses.doors["gateway"]))
                let held = try #require(await RawConnection.begin("", port: page))
                while rig.daemon.api.connections.unknownCount < 1 { await Task.yield() }
                var others: [Int32] = []
                for _ in 0..<4 { others.append(try #require(await RawConnection.begin("", port: port))) }
                let gateway = try #require(rig.daemon.gateway)
                while try #require(gateway.peers.table).unknownCount < 2 { await Task.yield() }
                #expect(rig.daemon.api.connections.unknownCount == 1)
                RawConnection.write(
                    Array("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(page)\r\nConnection: close\r\n\r\n".utf8), held)
                #expect(await RawConnection.finish(held).status == 200)
                for descriptor in others { close(descriptor) }
            }
        }

        @Test("A user that this machine does not have is refused at the start")
        func unknown() async throws {
            await #expect(throws: DownloadError.self) {
                try await DaemonRig.runWithGateway(
                    configure: { $0.flags[.gatewayUsers] = .list([.text("no-such-user-here")]) }
                ) { _ in }
            }
        }
    }
#endif
