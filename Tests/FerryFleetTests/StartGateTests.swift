@testable import FerryFleet
import Testing

@Suite("Starts of hosts with a budget") struct StartGateTests {
    private static func grant(
        _ starts: Int, delay: Duration = .zero, apart: Duration? = .milliseconds(300), connections: Int? = nil
    ) -> StartGate.Grant {
        StartGate.Grant(host: "h", connections: connections, starts: starts, delay: delay, apart: apart)
    }

    @Test("StartGate: without a budget everything starts, with one nothing does before it is granted")
    func ungranted() {
        var gate = StartGate()
        #expect(gate.mayStart("", at: .zero) == true)
        #expect(gate.mayStart("h", at: .zero) == false)
        let wishes = gate.wishes(["h": 3, "": 9], free: 5, at: .zero) { _ in "*" }
        #expect(wishes == [StartGate.Wish(host: "h", budget: "*", wanted: 3, running: 0)])
    }

    @Test("StartGate: a start that is late by more than its tolerance is lost")
    func late() {
        var gate = StartGate()
        gate.granted([Self.grant(3, delay: .seconds(1))], at: .zero)
        #expect(gate.mayStart("h", at: .milliseconds(999)) == false)
        #expect(gate.mayStart("h", at: .milliseconds(1100)) == true)
        // The second, of 1.3 s, is lost; the third is of 1.6 s.
        #expect(gate.mayStart("h", at: .milliseconds(1500)) == false)
        #expect(gate.mayStart("h", at: .milliseconds(1600)) == true)
        #expect(gate.mayStart("h", at: .milliseconds(1600)) == false)
    }

    @Test("StartGate: however late each start is, no second has more of them than the rate", arguments: 1...50)
    func rate(seed: Int) {
        var gate = StartGate()
        gate.granted([Self.grant(400)], at: .zero)
        var times: [Duration] = []
        // A poll at uneven times: the worst that a busy worker does.
        var now: Duration = .zero
        var step = seed
        while now < .seconds(60) {
            step = (step &* 1_103_515_245 &+ 12_345) & 0x7FFF_FFFF
            now += .milliseconds(1 + step % 130)
            // And the request of each reaches the server later still.
            while gate.mayStart("h", at: now) { times.append(now + .milliseconds(step % 400)) }
        }
        times.sort()
        #expect(times.count > 100)
        for (index, time) in times.enumerated() {
            let inSecond = times[index...].prefix { $0 < time + .seconds(1) }
            #expect(inSecond.count <= 5)
        }
    }

    @Test("StartGate: connections bound what runs, and an idle host gives them back")
    func connections() {
        var gate = StartGate()
        gate.granted([Self.grant(9, apart: nil, connections: 2)], at: .zero)
        #expect(gate.mayStart("h", at: .zero) == true)
        #expect(gate.mayStart("h", at: .zero) == true)
        #expect(gate.mayStart("h", at: .zero) == false)
        #expect(gate.idle(except: [:]) == [])
        gate.ended("h")
        #expect(gate.mayStart("h", at: .zero) == true)
        gate.ended("h")
        gate.ended("h")
        #expect(gate.idle(except: ["h": 1]) == [])
        #expect(gate.idle(except: [:]) == ["h"])
    }

    @Test("StartGate: starts without a rate are asked for again after two seconds, and none is left after a hold")
    func fresh() {
        var gate = StartGate()
        gate.granted([Self.grant(9, apart: nil, connections: 5)], at: .zero)
        #expect(gate.mayStart("h", at: .milliseconds(1999)) == true)
        #expect(gate.wishes(["h": 1], free: 1, at: .milliseconds(1999)) { $0 } == [])
        #expect(gate.mayStart("h", at: .seconds(2)) == false)
        #expect(gate.wishes(["h": 1], free: 1, at: .seconds(2)) { $0 }.map(\.running) == [1])
        gate.granted([Self.grant(9, apart: nil, connections: 5)], at: .seconds(2))
        #expect(gate.mayStart("h", at: .seconds(2)) == true)
        gate.hold("h")
        #expect(gate.mayStart("h", at: .seconds(2)) == false)
    }

    @Test("StartGate: a host is not asked about again within half a second")
    func pause() {
        var gate = StartGate()
        func wishes(at time: Duration) -> Int { gate.wishes(["h": 1], free: 1, at: time) { $0 }.count }
        #expect(wishes(at: .zero) == 1)
        #expect(wishes(at: .milliseconds(499)) == 0)
        #expect(wishes(at: .milliseconds(500)) == 1)
        #expect(gate.wishes(["h": 1], free: 0, at: .seconds(9)) { $0 } == [])
    }
}
