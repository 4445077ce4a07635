#if os(Linux)
    import FerryTesting
    import Foundation
    import Testing

    @Suite(
        "The binary: addresses and networks",
        .enabled(if: NetworkNamespace.isPossible, "network namespaces may not be made here: needs root and `ip`"),
        .timeLimit(.minutes(30)))
    struct PublicAddressTests {
        /// Both are addresses of one server.
        private static let (open, closed) = ("http://93.184.215.1:8080", "http://192.0.2.1:8080")

        @Test("ferry get --no-private: private addresses are refused with exit code 4, also behind a redirect")
        func addresses() async throws {
            try await NetworkNamespace.with { network in
                try network.near("addr add 93.184.215.2/24 dev eth0")
                try network.far("addr add 93.184.215.1/24 dev eth0")
                let origin = try await Self.origin(in: network.outside)
                func get(_ options: [String], _ url: String) async throws -> FerryProcess.Outcome {
                    try await FerryProcess.run(
                        ["get"] + options + [url], in: Workplace(),
                        shell: "exec /usr/sbin/ip netns exec \(network.inside) \"$@\"")
                }
                let strict = ["--no-private"]
                #expect(try await get(strict, Self.open + "/file/10k/a").code == 0)
                for path in [Self.closed + "/file/10k/b", Self.open + "/file/10k/c?location=\(Self.closed)/file/10k/d"]
                {
                    let outcome = try await get(strict, path)
                    #expect(outcome.code == 4, "\(outcome.error)")
                    #expect(outcome.error.contains("192.0.2.1 is not a public address"))
                    #expect(try await get([], path).code == 0)
                }
                origin.signal(SIGTERM)
                _ = await origin.end()
            }
        }

        @Test("Air-gapped: beside a server that is near, a name that nobody knows ends the list by --retries")
        func gap() async throws {
            try await NetworkNamespace.with { network in
                try network.far("addr add 93.184.215.1/24 dev eth0")
                let origin = try await Self.origin(in: network.outside)
                let place = try Workplace()
                try place.write("\(Self.closed)/file/10k/near\nhttp://gone.invalid/far\n", to: "list")
                let outcome = try await FerryProcess.run(
                    ["get", "--retries", "1", "-i", "list"], in: place,
                    shell: "exec /usr/sbin/ip netns exec \(network.inside) \"$@\"")
                #expect(outcome.code == 3, "\(outcome.error)")
                #expect(outcome.error.contains("gone.invalid"))
                #expect(place.names == ["list", "near"])
                origin.signal(SIGTERM)
                _ = await origin.end()
            }
        }

        /// A server in a namespace, once it listens.
        private static func origin(in namespace: String) async throws -> RunningProgram {
            let output = Pipe()
            let program = try RunningProgram(
                [
                    "/usr/sbin/ip", "netns", "exec", namespace, try BuiltProgram.url("ferry-origin").path, "serve",
                    "--port", "8080", "--address", "93.184.215.1", "--address", "192.0.2.1",
                ], output: output.fileHandleForWriting)
            try output.fileHandleForWriting.close()
            let reading = output.fileHandleForReading
            // The first line of output is the address: the server listens from then on.
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                Thread.detachNewThread {
                    _ = reading.availableData
                    continuation.resume()
                }
            }
            return program
        }
    }
#endif
