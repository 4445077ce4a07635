import FerryTesting
import Foundation
import Testing

@testable import FerryServer

#if canImport(Glibc)
    import Glibc

    @Suite("ServiceNotifier", .timeLimit(.minutes(10))) struct ServiceNotifierTests {
        @Test("ServiceNotifier: addresses and watchdogs that are not for this process, or no numbers, do not count")
        func environment() {
            func notifier(_ environment: [String: String]) -> ServiceNotifier? {
                ServiceNotifier(environment, process: 42)
            }
            #expect(notifier([:]) == nil)
            for address in ["", "@", "relative", "vsock:2:1", "/" + String(repeating: "a", count: 107)] {
                #expect(notifier(["NOTIFY_SOCKET": address]) == nil, "\(address)")
            }
            let plain = ["NOTIFY_SOCKET": "/run/n"]
            #expect(notifier(plain)?.watchdog == nil)
            func watchdog(_ more: [String: String]) -> Duration? { notifier(plain.merging(more) { $1 })?.watchdog }
            #expect(watchdog(["WATCHDOG_USEC": "3000000"]) == .seconds(3))
            #expect(watchdog(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "42"]) == .seconds(3))
            #expect(watchdog(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "43"]) == nil)
            for text in ["0", "-1", "x", "99999999999999999999"] { #expect(watchdog(["WATCHDOG_USEC": text]) == nil) }
        }

        @Test(
            "ServiceNotifier: messages of one call arrive in one datagram, at a path and at an abstract name",
            arguments: [
                "/tmp/fy-n-\(UInt32.random(in: 0 ... .max))", "@ferry-test-\(UInt32.random(in: 0 ... .max))",
            ])
        func arrives(address: String) async throws {
            let receiver = try DatagramReceiver(at: address)
            let notifier = try #require(ServiceNotifier(["NOTIFY_SOCKET": address]))
            await notifier.tell([.ready, .status("3 downloads\nREADY=0")])
            #expect(try receiver.next() == "READY=1\nSTATUS=3 downloads READY=0")
            await notifier.tell([.stopping])
            #expect(try receiver.next() == "STOPPING=1")
        }

        @Test("ServiceNotifier: a manager that has gone is no error")
        func gone() async throws {
            let notifier = try #require(ServiceNotifier(["NOTIFY_SOCKET": "/tmp/fy-none-\(UUID().uuidString)"]))
            await notifier.tell([.watchdog])
        }
    }
#endif
