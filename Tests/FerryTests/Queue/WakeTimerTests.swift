import FerryTesting
import Synchronization
import Testing

@testable import Ferry

@Suite("Timer of the queue", .timeLimit(.minutes(30)))
struct WakeTimerTests {
    @Test("Wake timer: the setting of an earlier decision does not replace that of a later one")
    func order() async throws {
        let clock = ManualClock()
        let timer = WakeTimer(clock)
        var setting = WakeTimer.Setting()
        let settings = [60, 10].compactMap { setting.changed(to: clock.now() + .seconds($0)) }
        #expect(settings.count == 2)
        let woken = Mutex<[Duration]>([])
        // As two tasks may that decide one after the other.
        for setting in settings.reversed() { timer.set(setting) { time in woken.withLock { $0.append(time) } } }
        try await eventually {
            clock.advance(by: .seconds(1))
            return woken.withLock { !$0.isEmpty }
        }
        #expect(woken.withLock { $0 } == [settings[1].at])
    }

    @Test("Wake timer: a decision for the same time sets nothing, also for never")
    func unchanged() {
        var setting = WakeTimer.Setting()
        #expect(setting.changed(to: nil) == nil)
        #expect(setting.changed(to: .seconds(1))?.at == .seconds(1))
        #expect(setting.changed(to: .seconds(1)) == nil)
        #expect(setting.changed(to: nil) == setting)
    }
}
