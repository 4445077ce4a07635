#if os(Linux)
    import Ferry
    import FerryCore
    import FerryTesting
    import Foundation
    import Glibc
    import Testing

    /// Scripts in place of busctl and gdbus.
    @Suite(.timeLimit(.minutes(30)))
    struct NetworkManagerTests {
        /// A directory with the two scripts; busctl prints the file `answer`, and gdbus the lines written to `signals`.
        struct Stub: Sendable {
            let directory: String
            /// A named pipe, open at both ends: written lines wait for a reader.
            let signals: Int32
            var tools: NetworkManagerTools {
                NetworkManagerTools(
                    busctl: directory + "/busctl", gdbus: directory + "/gdbus", hold: .seconds(600),
                    limit: .seconds(600))
            }

            func answer(_ text: String) throws { try write("answer", text) }

            func write(_ name: String, _ text: String) throws {
                try text.write(toFile: directory + "/" + name, atomically: true, encoding: .utf8)
            }

            func script(_ name: String, _ text: String) throws {
                try Executable.write("#!/bin/sh\ncd '\(directory)'\n\(text)\n", to: directory + "/" + name)
            }

            /// Prints a line as gdbus would, as soon as that runs.
            func signal(_ line: String) { _ = (line + "\n").withCString { Glibc.write(signals, $0, strlen($0)) } }

            func lines(_ name: String) -> [String] {
                ((try? String(contentsOfFile: directory + "/" + name, encoding: .utf8)) ?? "")
                    .split(separator: "\n").map(String.init)
            }

            /// Waits until no process of the scripts is left; the kernel reaps killed ones a moment later.
            func quiet() async throws {
                for process in lines("busctl.pid") + lines("gdbus.pid") {
                    try await eventually { !Self.lives(process) }
                }
            }

            private static func lives(_ process: String) -> Bool {
                let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
                // The state follows the name in brackets; a zombie is only waiting for its parent.
                let state = stat.split(separator: ")").last?.split(separator: " ").first
                return state != nil && state != "Z" && state != "X"
            }

            static func with(_ body: (Stub) async throws -> Void) async throws {
                let directory = FileManager.default.temporaryDirectory.path + "/ferry-nm-" + UUID().uuidString
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                defer { try? FileManager.default.removeItem(atPath: directory) }
                mkfifo(directory + "/signals", 0o600)
                let stub = Stub(directory: directory, signals: open(directory + "/signals", O_RDWR | O_CLOEXEC))
                defer { close(stub.signals) }
                try stub.script("busctl", "echo $$ >>busctl.pid; echo \"$@\" >>asked; cat answer")
                try stub.script(
                    "gdbus",
                    """
                    echo $$ >>gdbus.pid
                    echo "Monitoring signals on object /org/freedesktop/NetworkManager owned by org.freedesktop.NetworkManager"
                    echo "The name org.freedesktop.NetworkManager is owned by :1.2"
                    while read -r line; do echo "$line"; done <signals
                    """)
                try await body(stub)
            }
        }

        static func changed(_ number: Int) -> String {
            """
            /org/freedesktop/NetworkManager: org.freedesktop.DBus.Properties.PropertiesChanged \
            ('org.freedesktop.NetworkManager', {'Connectivity': <uint32 4>, 'Metered': <uint32 \(number)>}, @as [])
            """
        }

        func reach(_ monitor: SystemNetworkMonitor, _ looksSo: (NetworkStatus) -> Bool) async {
            for await snapshot in monitor.changes() where looksSo(snapshot.status) { return }
        }

        @Test func `NetworkManager: it is asked at the start, and its signals change the status`() async throws {
            try await Stub.with { stub in
                try stub.answer("u 4\n")
                let monitor = SystemNetworkMonitor(tools: stub.tools) { nil }
                await monitor.start()
                #expect(monitor.current.status == .online)
                // A question that still runs when a signal arrives is asked again, so the answer changes first.
                try stub.answer("u 1\n")
                stub.signal(Self.changed(1))
                await reach(monitor) { $0.isMetered }
                try stub.answer("u 4\n")
                stub.signal(Self.changed(4))
                await reach(monitor) { !$0.isMetered }
                #expect(
                    stub.lines("asked").first
                        == "--system --timeout=1 get-property org.freedesktop.NetworkManager "
                        + "/org/freedesktop/NetworkManager org.freedesktop.NetworkManager Metered")
                await monitor.stop()
                try await stub.quiet()
            }
        }

        @Test func `NetworkManager: its answer is known when start returns`() async throws {
            try await Stub.with { stub in
                try stub.answer("u 1\n")
                let monitor = SystemNetworkMonitor(tools: stub.tools) { nil }
                await monitor.start()
                #expect(monitor.current.status.kind == .metered)
                await monitor.stop()
                try await stub.quiet()
            }
        }

        @Test func `NetworkManager: the status follows when it leaves the bus and comes back`() async throws {
            try await Stub.with { stub in
                try stub.answer("u 1\n")
                let monitor = SystemNetworkMonitor(tools: stub.tools) { nil }
                await monitor.start()
                // As above: while it is gone, there is no answer.
                try stub.answer("")
                stub.signal("The name org.freedesktop.NetworkManager does not have an owner")
                await reach(monitor) { !$0.isMetered }
                try stub.answer("u 3\n")
                stub.signal("The name org.freedesktop.NetworkManager is owned by :1.9")
                await reach(monitor) { $0.isMetered }
                await monitor.stop()
                try await stub.quiet()
            }
        }

        @Test(arguments: [
            NetworkManagerTools(busctl: "/nowhere/busctl", gdbus: "/nowhere/gdbus"), .none,
            NetworkManagerTools(busctl: "/bin/false", gdbus: "/bin/false"),
            NetworkManagerTools(busctl: "/bin/echo", gdbus: "/bin/true"), NetworkManagerTools(busctl: "", gdbus: ""),
        ])
        func `NetworkManager: without its tools the network is online`(tools: NetworkManagerTools) async {
            let monitor = SystemNetworkMonitor(tools: tools) { nil }
            await monitor.start()
            #expect(monitor.current.status == .online)
            await monitor.stop()
        }

        @Test func `NetworkManager: a hanging busctl does not delay start, and is ended by stop`() async throws {
            try await Stub.with { stub in
                try stub.script("busctl", "echo $$ >>busctl.pid; sleep 600 & echo $! >>busctl.pid; wait")
                let tools = NetworkManagerTools(busctl: stub.tools.busctl, gdbus: stub.tools.gdbus)
                let monitor = SystemNetworkMonitor(tools: tools) { nil }
                await monitor.start()
                #expect(monitor.current.status == .online)
                await monitor.stop()
                try await stub.quiet()
            }
        }

        @Test func `NetworkManager: a flood of output is read, and does not count as an answer`() async throws {
            try await Stub.with { stub in
                try stub.script("busctl", "echo $$ >>busctl.pid; head -c 3000000 /dev/zero; echo; echo u 1")
                let monitor = SystemNetworkMonitor(tools: stub.tools) { nil }
                await monitor.start()
                #expect(monitor.current.status == .online)
                await monitor.stop()
                try await stub.quiet()
            }
        }

        @Test func `NetworkManager: without gdbus it is asked again after a change`() async throws {
            try await Stub.with { stub in
                // The answer of NetworkManager changes later.
                try stub.script(
                    "busctl", "echo $$ >>busctl.pid; if test -e asked; then echo u 1; else echo u 4; fi; echo >>asked")
                var tools = stub.tools
                tools.gdbus = "/nowhere/gdbus"
                let monitor = SystemNetworkMonitor(tools: tools) { nil }
                await monitor.start()
                await reach(monitor) { $0.isMetered }
                await monitor.stop()
                try await stub.quiet()
            }
        }

        @Test(.enabled(if: NetworkNamespace.isPossible, "network namespaces may not be made here: needs root and `ip`"))
        func `NetworkManager: it is asked again at each change of the network`() async throws {
            try await Stub.with { stub in
                try stub.answer("u 2\n")
                try await NetworkNamespace.with { network in
                    let monitor = SystemNetworkMonitor(tools: stub.tools) { network.sockets() }
                    await monitor.start()
                    #expect(monitor.current.status == .offline)
                    try stub.answer("u 3\n")
                    try network.near("route add default via 192.0.2.1 dev eth0")
                    await reach(monitor) { $0.isOnline && $0.isMetered }
                    try stub.answer("u 2\n")
                    try network.near("link set wwan0 up", "route add default dev wwan0 metric 9")
                    try network.far("link set wwan0 up")
                    await reach(monitor) { $0.isOnline && !$0.isMetered }
                    await monitor.stop()
                    try await stub.quiet()
                }
            }
        }
    }
#endif
