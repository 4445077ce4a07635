import Testing

@testable import FerryCore

@Suite("HostHealth")
struct HostHealthTests {
    private let refused = HostHealth.Cause("connection refused", code: .network)
    private let missing = HostHealth.Cause("there is no such host", code: .network, isLasting: true)
    private let forever = HostHealth.Rules()

    private func down(since: Duration = .milliseconds(1), until: Duration?) -> HostOpening {
        .shut(until: until, .silent(refused, since: since, until: until))
    }

    @Test("HostHealth: failures of attempts that began together are one incident")
    func together() {
        var health = HostHealth()
        for milliseconds in 1...16 {
            _ = health.failed(refused, since: .zero, at: .milliseconds(milliseconds), forever)
        }
        #expect(health.incidents == 1)
        #expect(health.opening(at: .milliseconds(500)) == down(until: .milliseconds(1001)))
    }

    @Test("HostHealth: after each pause one download tries, and each failure doubles the pause, up to 5 minutes")
    func probes() {
        var health = HostHealth()
        var now = Duration.zero
        var pauses: [Duration] = []
        for _ in 0..<12 {
            #expect(health.opening(at: now) == .open)
            health.began(at: now)
            if !pauses.isEmpty { #expect(health.opening(at: now) == down(since: .milliseconds(1), until: nil)) }
            let begun = now
            now += .milliseconds(1)
            #expect(health.failed(refused, since: begun, at: now, forever) == true)
            guard case .shut(let until?, _) = health.opening(at: now) else {
                Issue.record("it is not shut")
                return
            }
            pauses.append(until - now)
            now = until
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300].map { .seconds($0) })
    }

    @Test("HostHealth: a response makes the server well at once")
    func answered() {
        var health = HostHealth()
        _ = health.failed(refused, since: .zero, at: .seconds(1), forever)
        #expect(health.answered(at: .milliseconds(1100), status: 200, hold: nil) == true)
        #expect(health.opening(at: .milliseconds(1100)) == .open)
        #expect(health.isForgettable(at: .milliseconds(1100)))
        // An attempt that began before the response says nothing.
        #expect(health.failed(refused, since: .seconds(1), at: .seconds(2), forever) == false)
    }

    @Test("HostHealth: a probe that ends without a result lets another one start")
    func withdrawn() {
        var health = HostHealth()
        _ = health.failed(refused, since: .zero, at: .zero, forever)
        health.began(at: .seconds(1))
        #expect(health.opening(at: .seconds(1)) == down(since: .zero, until: nil))
        health.probeEnded(at: .seconds(2))
        #expect(health.opening(at: .seconds(2)) == .open)
    }

    @Test("HostHealth: a server is given up after the most incidents, a missing name after three")
    func givenUp() {
        var rules = HostHealth.Rules(mostIncidents: 5)
        for (cause, most) in [(refused, 5), (missing, 3)] {
            var health = HostHealth()
            for number in 1...most {
                #expect(health.opening(at: .seconds(100 * number)) == .open)
                _ = health.failed(cause, since: .seconds(100 * number), at: .seconds(100 * number + 1), rules)
            }
            #expect(health.opening(at: .seconds(100 * most + 2)) == .refused(cause, attempts: most))
            // It is tried again after ten minutes.
            #expect(health.opening(at: .seconds(100 * most + 601)) == .open)
        }
        rules.mostIncidents = nil
        var health = HostHealth()
        _ = health.failed(missing, since: .zero, at: .seconds(1), rules)
        #expect(health.gaveUp(at: .seconds(1), rules) == false)
    }

    @Test("HostHealth: the wait that a server asks for has a bound")
    func bound() {
        var health = HostHealth()
        #expect(health.answered(at: .zero, status: 503, hold: .seconds(1_000_000)) == true)
        #expect(health.held(at: .zero, host: "h")?.until == RetryAfter.longest)
    }

    @Test("HostHealth: the wait is told with the status of the response that asked for the longest one")
    func longest() {
        var health = HostHealth()
        _ = health.answered(at: .zero, status: 503, hold: .seconds(45))
        _ = health.answered(at: .seconds(1), status: 429, hold: .seconds(5))
        let wait = HostWait.asked(status: 503, until: .seconds(45))
        #expect(health.opening(at: .seconds(2)) == .shut(until: .seconds(45), wait))
        #expect(health.held(at: .seconds(2), host: "h")?.reason == .hostAsksToWait("h", status: 503))
        _ = health.answered(at: .seconds(2), status: 429, hold: .seconds(60))
        #expect(health.held(at: .seconds(2), host: "h")?.reason == .hostAsksToWait("h", status: 429))
        #expect(health.held(at: .seconds(62), host: "h") == nil)
    }
}
