import CFerry
import FerryAPI
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

#if canImport(Glibc)
    import Glibc

    @Suite("Users of loopback connections", .timeLimit(.minutes(30)))
    struct LoopbackPeerTests {
        /// A client's socket, and the connection that it is an end of.
        private struct Pair {
            let client: Int32
            let connection: TCPConnection
        }

        /// - Parameter mapped: The client's socket is of IPv6, and connected to `::ffff:127.0.0.1`.
        private func connected<Result>(ipv6: Bool, mapped: Bool = false, _ body: (Pair) throws -> Result) throws
            -> Result
        {
            let family = ipv6 ? AF_INET6 : AF_INET
            let listener = socket(family, ferry_SOCK_STREAM, 0)
            defer { close(listener) }
            try #require(bind(listener, loopback(ipv6: ipv6, port: 0)) == 0)
            try #require(listen(listener, 1) == 0)
            let port = try port(listener, own: true)
            let client = socket(ipv6 || mapped ? AF_INET6 : AF_INET, ferry_SOCK_STREAM, 0)
            defer { close(client) }
            let address: [UInt8] = ipv6 ? [UInt8](repeating: 0, count: 15) + [1] : [127, 0, 0, 1]
            try #require(connect(client, loopback(ipv6: ipv6 || mapped, port: port, mapped: mapped)) == 0)
            let accepted = accept(listener, nil, nil)
            defer { close(accepted) }
            let connection = TCPConnection(
                client: .init(address: address, port: try self.port(client, own: true)),
                daemon: .init(address: address, port: port))
            return try body(Pair(client: client, connection: connection))
        }

        private func loopback(ipv6: Bool, port: UInt16, mapped: Bool = false) -> [UInt8] {
            if ipv6 {
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_port = port.bigEndian
                let bytes: [UInt8] =
                    mapped
                    ? [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1]
                    : [UInt8](repeating: 0, count: 15) + [1]
                withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
                return withUnsafeBytes(of: address) { Array($0) }
            }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            return withUnsafeBytes(of: address) { Array($0) }
        }

        private func bind(_ descriptor: Int32, _ address: [UInt8]) -> Int32 {
            address.withUnsafeBytes {
                Glibc.bind(
                    descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
            }
        }

        private func connect(_ descriptor: Int32, _ address: [UInt8]) -> Int32 {
            address.withUnsafeBytes {
                Glibc.connect(
                    descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
            }
        }

        /// The port of the socket's own end, or of its peer's. It is at the same offset in the addresses of both families.
        private func port(_ descriptor: Int32, own: Bool) throws -> UInt16 {
            var bytes = [UInt8](repeating: 0, count: 28)
            var length = socklen_t(bytes.count)
            let result = bytes.withUnsafeMutableBytes {
                let address = $0.baseAddress!.assumingMemoryBound(to: sockaddr.self)
                return own ? getsockname(descriptor, address, &length) : getpeername(descriptor, address, &length)
            }
            try #require(result == 0)
            return UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }

        @Test(
            "LoopbackPeers: the user of an open socket is found by netlink and by the tables of /proc",
            arguments: [(false, false), (true, false), (false, true)], [true, false])
        func found(kind: (ipv6: Bool, mapped: Bool), usesDiagnosis: Bool) throws {
            let peers = LoopbackPeers(usesDiagnosis: usesDiagnosis)
            try #require(peers.tells)
            try connected(ipv6: kind.ipv6, mapped: kind.mapped) { pair in
                #expect(peers.peer(of: pair.connection) == .user(geteuid()))
            }
        }

        @Test(
            "LoopbackPeers: a socket that its process has closed counts as absent",
            arguments: [true, false])
        func closed(usesDiagnosis: Bool) throws {
            let peers = LoopbackPeers(usesDiagnosis: usesDiagnosis)
            let listener = socket(AF_INET, ferry_SOCK_STREAM, 0)
            defer { close(listener) }
            try #require(bind(listener, loopback(ipv6: false, port: 0)) == 0)
            try #require(listen(listener, 1) == 0)
            let port = try port(listener, own: true)
            // A process of its own: what this one closes may stay open in one that another test is just starting.
            let (input, output) = (Pipe(), Pipe())
            let client = try RunningProgram(
                ["/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/\(port) && read; exec 3>&- && echo closed && read"],
                input: input.fileHandleForReading, output: output.fileHandleForWriting)
            try output.fileHandleForWriting.close()
            let accepted = accept(listener, nil, nil)
            defer { close(accepted) }
            let connection = TCPConnection(
                client: .init(address: [127, 0, 0, 1], port: try self.port(accepted, own: false)),
                daemon: .init(address: [127, 0, 0, 1], port: port))
            #expect(peers.peer(of: connection) == .user(geteuid()))
            try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
            #expect(output.fileHandleForReading.availableData == Data("closed\n".utf8))
            // The daemon's end is open still: the kernel alone keeps the client's.
            #expect(peers.peer(of: connection) == .absent)
            #expect(client.ended == nil)
        }

        @Test(
            "LoopbackPeers: a socket that its process has shut down but not closed is that user's",
            arguments: [true, false])
        func halfClosed(usesDiagnosis: Bool) throws {
            let peers = LoopbackPeers(usesDiagnosis: usesDiagnosis)
            try connected(ipv6: false) { pair in
                shutdown(pair.client, Int32(SHUT_WR))
                #expect(peers.peer(of: pair.connection) == .user(geteuid()))
            }
        }

        @Test("LoopbackPeers: a listener on the client's port is not the client", arguments: [true, false])
        func listener(usesDiagnosis: Bool) throws {
            let peers = LoopbackPeers(usesDiagnosis: usesDiagnosis)
            let listener = socket(AF_INET, ferry_SOCK_STREAM, 0)
            defer { close(listener) }
            try #require(bind(listener, loopback(ipv6: false, port: 0)) == 0)
            try #require(listen(listener, 1) == 0)
            let end = TCPConnection.End(address: [127, 0, 0, 1], port: try port(listener, own: true))
            let connection = TCPConnection(client: end, daemon: .init(address: [127, 0, 0, 1], port: 9))
            #expect(peers.peer(of: connection) == .absent)
        }

        @Test("SocketDiagnosis: arbitrary bytes instead of a response never name a user")
        func nonsense() {
            let end = TCPConnection.End(address: [127, 0, 0, 1], port: 7)
            let connection = TCPConnection(client: end, daemon: end)
            let question = SocketDiagnosis.question(connection, sequence: 5)
            for count in 0..<120 {
                var bytes = question + [UInt8](repeating: 0xFF, count: 60)
                bytes = Array(bytes.prefix(count))
                #expect(SocketDiagnosis.answer(in: bytes[...], to: connection, sequence: 4) == nil)
                let answer = SocketDiagnosis.answer(in: bytes[...], to: connection, sequence: 5)
                #expect(answer == nil || answer == .nobody, "\(count)")
            }
        }

        @Test("SocketTable: rows of other ports, broken rows and closed sockets are skipped")
        func table() {
            let text = """
                  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
                   0: 0100007F:0D31 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 7 1
                   1: 0100007F:C001 0100007F:0D31 06 00000000:00000000 00:00000000 00000000     0        0 0 3
                   2: 0100007F:C002
                   3: 0100007F:C003 0100007F:0D31 01 00000000:00000000 00:00000000 00000000  1003        0 9 1
                   4: 0000000000000000FFFF00000100007F:C004 0000000000000000FFFF00000100007F:0D31 01 0:0 0:0 0 1004 0 9 1
                """
            func user(_ port: UInt16) -> UInt32? {
                let connection = TCPConnection(
                    client: .init(address: [127, 0, 0, 1], port: port),
                    daemon: .init(address: [127, 0, 0, 1], port: 3377))
                return SocketTable.user(of: connection, in: Array(text.utf8))
            }
            #expect(user(0xC001) == nil)
            #expect(user(0xC002) == nil)
            #expect(user(0xC003) == 1003)
            #expect(user(0xC004) == 1004)
            #expect(user(0xC005) == nil)
        }

        @Test(
            "API over TCP: a process of another user gets no response even with the token, and adds nothing",
            .enabled(if: OtherUser.isPossible, "only root can be somebody else"))
        func otherUser() async throws {
            try await DaemonRig.run { rig in
                let port = try #require(rig.addresses.port)
                let request =
                    "GET /api/v1/downloads HTTP/1.1\\r\\nHost: 127.0.0.1:\(port)\\r\\n"
                    + "Authorization: Bearer \(rig.token)\\r\\nConnection: close\\r\\n\\r\\n"
                let talk = "exec 3<>/dev/tcp/127.0.0.1/\(port); printf '\(request)' >&3; cat <&3"
                let text = try await OtherUser.run(["/bin/bash", "-c", talk])
                #expect(text == "")
                // A socket that is written to and closed at once has no owner: the kernel names root for it.
                let body = #"{"urls": ["\#(rig.url("/file/1k"))"], "startsPaused": true}"#
                let add =
                    "POST /api/v1/downloads HTTP/1.1\\r\\nHost: 127.0.0.1:\(port)\\r\\n"
                    + "Authorization: Bearer \(rig.token)\\r\\nContent-Type: application/json\\r\\n"
                    + "Content-Length: \(body.utf8.count)\\r\\n\\r\\n\(body)"
                let leave =
                    "for i in 1 2 3 4 5 6 7 8; do exec 3<>/dev/tcp/127.0.0.1/\(port); printf '\(add)' >&3; exec 3>&-; done"
                _ = try await OtherUser.run(["/bin/bash", "-c", leave])
                // Root's own request with the same text is served, after those of the other user.
                let own = try await rig.send(
                    "GET", Route.list.path(), headers: ["Authorization": "Bearer \(rig.token)"], port: port)
                #expect(own.status == 200)
                #expect(try own.shape(DownloadPage.self).total == 0)
            }
        }
    }
#endif
