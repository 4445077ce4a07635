import FerryAPI
import FerryCore
import FerryTesting
import Testing

@testable import FerryServer

#if canImport(Glibc)
    @Suite("The gateway and the users of the machine", .timeLimit(.minutes(30)))
    struct GatewayUsersTests {
        private static func ask(_ rig: DaemonRig, _ target: String = "/gw/pypi/simple/") async throws -> String {
            let port = try #require(rig.addresses.gatewayPort)
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
