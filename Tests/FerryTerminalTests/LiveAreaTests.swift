import FerryTerminal
import FerryTesting
import Synchronization
import Testing

@Suite("LiveArea") struct LiveAreaTests {
    @Test("LiveArea: a frame replaces the previous one, whether it has more or fewer lines")
    func replaces() {
        var area = LiveArea()
        var screen = Screen(width: 40, height: 10, columns: DisplayWidth.columns(of:))
        screen.write("before\n")
        screen.write(area.redraw(["one 1", "two", "whole"], width: 40))
        #expect(screen.lines == ["before", "one 1", "two", "whole"])
        screen.write(area.redraw(["one 2", "whole"], width: 40))
        #expect(screen.lines == ["before", "one 2", "whole"])
        screen.write(area.redraw(["a", "b", "c", "d"], width: 40))
        #expect(screen.lines == ["before", "a", "b", "c", "d"])
        screen.write(area.clear(width: 40))
        #expect(screen.lines == ["before", ""])
        #expect(area.isEmpty)
    }

    @Test("LiveArea: frames at the bottom of a full screen scroll it once and then stay")
    func bottom() {
        var area = LiveArea()
        var screen = Screen(width: 20, height: 4, columns: DisplayWidth.columns(of:))
        screen.write("1\n2\n3\n")
        for frame in 0..<5 { screen.write(area.redraw(["a \(frame)", "b \(frame)", "c \(frame)"], width: 20)) }
        #expect(screen.lines == ["1", "2", "3", "a 4", "b 4", "c 4"])
    }

    @Test("LiveArea: lines that a narrower terminal has wrapped are cleared too")
    func narrower() {
        var area = LiveArea()
        _ = area.redraw([String(repeating: "x", count: 70), String(repeating: "中", count: 20)], width: 80)
        // 70 columns take 2 lines of 40, and so do 40 columns only 1: the cursor goes up by 2.
        #expect(area.redraw(["short"], width: 40).hasPrefix("\r\u{1B}[2A"))
    }

    @Test("LiveArea: colours do not count as columns")
    func colours() {
        var area = LiveArea()
        _ = area.redraw(["\u{1B}[32m" + String(repeating: "=", count: 30) + "\u{1B}[0m"], width: 32)
        #expect(area.clear(width: 32) == "\r\u{1B}[J")
    }

    @Test("Console: messages and results are written above the bars, which stay below")
    func console() {
        let screen = Mutex(Screen(width: 40, height: 10, columns: DisplayWidth.columns(of:)))
        let write: Console.Sink = { bytes in
            screen.withLock { $0.write(String(decoding: bytes, as: UTF8.self)) }
            return true
        }
        let console = Console(output: write, error: write, width: { 40 })
        console.draw(["bar 1", "whole 1"])
        console.message("ferry: something")
        console.draw(["bar 2", "whole 2"])
        console.result("/tmp/file\n")
        #expect(screen.withLock { $0.lines } == ["ferry: something", "/tmp/file", "bar 2", "whole 2"])
        console.draw([])
        #expect(screen.withLock { $0.lines } == ["ferry: something", "/tmp/file", ""])
    }

    @Test("Console: a closed standard output is noticed once, and messages continue")
    func closed() {
        let calls = Mutex((output: 0, error: ""))
        let console = Console(
            output: { _ in
                calls.withLock { $0.output += 1 }
                return false
            },
            error: { bytes in
                calls.withLock { $0.error += String(decoding: bytes, as: UTF8.self) }
                return true
            }, width: { 80 })
        console.result("a\n")
        console.result("b\n")
        console.message("still here")
        #expect(calls.withLock { $0.output } == 1)
        #expect(!console.isOutputOpen)
        #expect(calls.withLock { $0.error } == "still here\n")
    }
}
