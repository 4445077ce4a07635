import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Ends without a listener", .timeLimit(.minutes(30)))
struct RedeliveryTests {
    private func complete(_ names: [String], in app: AppProcess, of home: AppHome) async throws {
        for name in names {
            home.server.serve("/" + name, Resource(size: 50_000, seed: 3))
            try await app.ask("add", ["id": name, "url": home.server.url("/" + name)])
            try await app.ask("wait", ["id": name, "state": "completed"])
        }
    }

    @Test("Ends: after a kill in the handler an end has the same number, after its return it is not reported")
    func killedInHandler() async throws {
        try await AppHome.run { home in
            let first = try home.app(delegate: "hold")
            try await first.ask("activate")
            home.server.serve("/a", Resource(size: 50_000))
            try await first.ask("add", ["id": "a", "url": home.server.url("/a")])
            await first.waitForCall("didComplete a")
            await first.waitForEnd(of: "a")
            let numbers = first.numbers(of: "a")
            #expect(numbers.count == 1)
            await first.kill()

            let second = try home.app(delegate: "hold")
            try await second.ask("activate")
            await second.waitForCall("didComplete a")
            await second.waitForEnd(of: "a")
            #expect(second.numbers(of: "a") == numbers)
            // The app that is blocked in the handler has not received the last call.
            #expect(second.calls == ["didComplete a"])
            await second.kill()

            let third = try home.app(delegate: "print")
            try await third.ask("activate")
            await third.waitForCall("didFinish ")
            #expect(third.calls == ["didComplete a", "didFinish "])
            #expect(third.numbers(of: "a") == numbers)
            try await third.close()

            let fourth = try home.app(delegate: "print")
            try await fourth.ask("activate")
            await fourth.waitForCall("didFinish ")
            try await fourth.close()
            #expect(fourth.calls == ["didFinish "])
            #expect(fourth.numbers(of: "a") == [])
            #expect(home.server.traffic.requestCount == 1)
        }
    }

    @Test("Ends: they are reported in order after a relaunch, with one call that all were reported")
    func order() async throws {
        try await AppHome.run { home in
            let first = try home.app(events: "none")
            try await complete(["c", "a", "b"], in: first, of: home)
            try await first.ask("add", ["id": "x", "url": home.server.url("/x"), "isPaused": true])
            try await first.ask("cancel", ["id": "x"])
            await first.kill()

            let second = try home.app(delegate: "print")
            try await second.ask("activate")
            await second.waitForCall("didFinish ")
            // Later ends come after that call, and no second one follows.
            try await complete(["d"], in: second, of: home)
            await second.waitForCall("didComplete d")
            try await second.close()
            #expect(
                second.calls == [
                    "didComplete c", "didComplete a", "didComplete b", "didCancel x", "didFinish ", "didComplete d",
                ])
            let numbers = second.lines.compactMap(\.number)
            #expect(numbers == numbers.sorted())
            #expect(Set(numbers).count == 5)
        }
    }

    @Test("Ends: event sequences report them after each launch until they are acknowledged")
    func events() async throws {
        try await AppHome.run { home in
            let first = try home.app(events: "none")
            try await complete(["a", "b"], in: first, of: home)
            await first.kill()
            let second = try home.app(events: "print")
            try await second.ask("activate")
            await second.wait { $0.count { $0.number != nil } == 2 }
            let numbers = second.lines.compactMap(\.number)
            await second.kill()
            let third = try home.app(events: "acknowledge")
            try await third.ask("activate")
            await third.wait { $0.count { $0.number != nil } == 2 }
            #expect(third.lines.compactMap(\.number) == numbers)
            try await third.close()
            let fourth = try home.app(events: "print", delegate: "print")
            try await fourth.ask("activate")
            await fourth.waitForCall("didFinish ")
            try await fourth.close()
            #expect(fourth.lines.compactMap(\.number) == [])
        }
    }
}
