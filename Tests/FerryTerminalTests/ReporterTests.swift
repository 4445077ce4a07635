import Ferry
import FerryCore
import FerryTerminal
import Foundation
import Synchronization
import Testing

@Suite("Reporter") struct ReporterTests {
    /// The text written on the two streams.
    private final class Streams: Sendable {
        let texts = Mutex((output: "", error: ""))

        var console: Console {
            Console(
                output: { bytes in
                    self.texts.withLock { $0.output += String(decoding: bytes, as: UTF8.self) }
                    return true
                },
                error: { bytes in
                    self.texts.withLock { $0.error += String(decoding: bytes, as: UTF8.self) }
                    return true
                }, width: { 80 })
        }
        var output: String { texts.withLock { $0.output } }
        var error: String { texts.withLock { $0.error } }
    }

    private static let id = DownloadID(rawValue: "1")
    private static let date = Date(timeIntervalSince1970: 0)

    private static func event(_ kind: DownloadEvent.Kind) -> DownloadEvent {
        DownloadEvent(id: id, date: date, kind: kind)
    }

    private static func status(_ completed: ByteCount, state: DownloadState = .downloading) -> DownloadStatus {
        let progress = DownloadProgress(
            completedBytes: completed, totalBytes: 1000, bytesPerSecond: 100, timeRemaining: .seconds(5), connections: 2
        )
        return DownloadStatus(id: id, state: state, progress: progress, name: "f.iso")
    }

    private static let whole = WholeProgress(fileCount: 1, totalBytes: 1000)

    private static func reporter(
        _ streams: Streams, result: OutputOptions.Result = .paths(end: 0x0A), detail: EventText.Detail = .normal,
        style: ProgressStyle = .lines
    ) -> Reporter {
        let options = OutputOptions(result: result, detail: detail)
        return Reporter(
            options: options, style: style, console: streams.console, size: { TerminalSize(columns: 80, lines: 24) },
            mayDraw: { true })
    }

    private static func complete(_ reporter: Reporter, path: String = "/d/f.iso") {
        let file = FinishedDownload(path: path, totalBytes: 1000, proof: .strong, receivedBytes: 1000)
        reporter.completed(file, event: event(.completed(file)), name: "f.iso", elapsed: .seconds(2), isOneOfFew: true)
    }

    @Test("Reporter: standard output has the finished path and nothing else")
    func paths() {
        let streams = Streams()
        let reporter = Self.reporter(streams)
        reporter.happened(Self.event(.started(name: "f.iso", totalBytes: 1000)), name: "f.iso")
        reporter.tick([Self.status(0)], whole: Self.whole, elapsed: .zero, date: Self.date)
        Self.complete(reporter)
        #expect(streams.output == "/d/f.iso\n")
        #expect(streams.error == "f.iso: 1.0 KB\nf.iso: done, 1.0 KB in 2s, 500 B/s, proof: strong\n")
    }

    @Test("Reporter: -v reports what limits a file, and again when that differs; without -v it does not")
    func limits() {
        for (detail, expected) in [
            (
                EventText.Detail.verbose,
                "f.iso: speed limited: this line is saturated at 2.0 MB/s\n"
                    + "f.iso: speed limited: this line is saturated at 5.0 MB/s\n"
                    + "f.iso: speed limited: your limit of 5.0 MB/s\n"
            ), (.normal, ""),
        ] {
            let streams = Streams()
            let reporter = Self.reporter(streams, detail: detail, style: .none)
            #expect((reporter.interval != nil) == (detail == .verbose))
            var status = Self.status(1)
            for limit in [
                nil, Bottleneck(.line, bytesPerSecond: 2e6), Bottleneck(.line, bytesPerSecond: 3e6), nil,
                Bottleneck(.line, bytesPerSecond: 5e6), Bottleneck(.rateLimit, bytesPerSecond: 5e6),
            ] {
                status.progress.bottleneck = limit
                reporter.tick([status], whole: Self.whole, elapsed: .zero, date: Self.date)
            }
            #expect(streams.error == expected)
        }
    }

    @Test(
        "BottleneckText: each cause has one sentence with its numbers, in both languages, and hostile ones do not trap")
    func sentences() {
        let full = { (cause: Bottleneck.Cause) in
            Bottleneck(cause, bytesPerSecond: 1.5e6, connections: 4, share: 0.01, seconds: 0.1, windowBytes: 65_536)
        }
        for cause in Bottleneck.Cause.allCases where cause != .comparison {
            let sentence = BottleneckText.sentence(full(cause))
            let (english, chinese) = (sentence.text(in: .english), sentence.text(in: .simplifiedChinese))
            #expect(english.contains { $0.isNumber } && !english.contains("--") && !english.contains("{"), "\(english)")
            #expect(chinese != english && !chinese.contains("{"), "\(chinese)")
            for number in [Double.nan, .infinity, -1, 1e300] {
                var limit = Bottleneck(cause, connections: .min, windowBytes: .min)
                (limit.bytesPerSecond, limit.share, limit.seconds) = (number, number, number)
                #expect(!BottleneckText.sentence(limit).text(in: .english).isEmpty)
            }
            #expect(BottleneckText.sentence(Bottleneck(cause)).text(in: .english).contains("--"))
        }
        #expect(BottleneckText.sentence(full(.comparison)) == BottleneckText.sentence(Bottleneck(.comparison)))
        #expect(
            BottleneckText.sentence(full(.loss)).text(in: .english)
                == "about 1.0% of the packets are lost; 1.5 MB/s, connections: 4")
    }

    @Test("Reporter: -q prints the path and errors, and --print0 ends paths with NUL")
    func quiet() {
        let streams = Streams()
        let reporter = Self.reporter(streams, result: .paths(end: 0), detail: .quiet, style: .none)
        reporter.happened(Self.event(.restarted(reason: "changed")), name: "f.iso")
        Self.complete(reporter)
        #expect(streams.output == "/d/f.iso\0")
        #expect(streams.error.isEmpty)
        reporter.failed(DownloadError(.network, "broken"), id: Self.id, name: "f.iso", command: nil, date: Self.date)
        #expect(streams.error == "ferry: f.iso: broken\n")
    }

    @Test("Reporter: with --json progress is at most two lines per second, and none follows the end")
    func json() throws {
        let streams = Streams()
        let reporter = Self.reporter(streams, result: .json, style: .json)
        reporter.tick([Self.status(0)], whole: Self.whole, elapsed: .zero, date: Self.date)
        reporter.happened(Self.event(.started(name: "f.iso", totalBytes: 1000)), name: "f.iso")
        for tenth in 1...20 {
            reporter.tick([Self.status(50)], whole: Self.whole, elapsed: .milliseconds(tenth * 100), date: Self.date)
        }
        Self.complete(reporter)
        reporter.tick([Self.status(1000)], whole: Self.whole, elapsed: .seconds(9), date: Self.date)
        var events: [String] = []
        for line in streams.output.split(separator: "\n") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            events.append(object?["kind"] as? String ?? "")
        }
        #expect(events == ["started", "progress", "progress", "progress", "progress", "completed"])
        #expect(streams.error.isEmpty)
    }

    @Test("EventText: verbose has a line for every event, normal for important ones, with names escaped")
    func detail() {
        let kinds: [DownloadEvent.Kind] = [
            .added(url: "http://h/f"), .resumed(offset: 500, totalBytes: 1000, reason: "strong ETag"),
            .note("4 connections"),
            .restarted(reason: "ETag \"a\" became \"b\""), .retrying(attempt: 1, delay: .seconds(1), reason: "reset"),
            .waiting(.diskSpace, message: "2 MB are missing"),
        ]
        func lines(_ detail: EventText.Detail) -> [String] {
            kinds.compactMap { EventText.line($0, name: "f\u{07}", detail: detail) }
        }
        #expect(
            lines(.normal) == [
                "f\\x07: resuming at 500 B / 1.0 KB (strong ETag)",
                "f\\x07: restarting from the beginning: ETag \"a\" became \"b\"",
                "f\\x07: trying again in 1s, retry 1: reset", "f\\x07: waiting: 2 MB are missing",
            ])
        let soon = DownloadEvent.Kind.retrying(attempt: 1, delay: .milliseconds(130), reason: "reset")
        #expect(
            EventText.line(soon, name: "f", detail: .normal) == "f: trying again in 0.1s, retry 1: reset")
        #expect(lines(.verbose).count == 6)
        #expect(EventText.line(.added(url: ""), name: "f.part", detail: .verbose) == "f.part: added")
        #expect(lines(.quiet).isEmpty)
    }

    @Test("Reporter: after a break only its reason is reported, not that the file is resumed; with -v both")
    func resumedAgain() {
        for (detail, count) in [(EventText.Detail.normal, 2), (.verbose, 3)] {
            let streams = Streams()
            let reporter = Self.reporter(streams, detail: detail)
            let resumed = Self.event(.resumed(offset: 500, totalBytes: 1000, reason: "strong ETag"))
            reporter.happened(resumed, name: "f")
            reporter.happened(Self.event(.retrying(attempt: 1, delay: .zero, reason: "reset")), name: "f")
            reporter.happened(resumed, name: "f")
            #expect(streams.error.split(separator: "\n").count == count, "\(streams.error)")
        }
    }

    @Test("EventText: a file that took less than a second has hundredths, and its speed")
    func fast() {
        let file = FinishedDownload(path: "/d/f", totalBytes: 1000, proof: .single, receivedBytes: 1000)
        #expect(
            EventText.finished(file, elapsed: .milliseconds(31)) == "done, 1.0 KB in 0.03s, 32.3 KB/s, proof: single")
        #expect(EventText.finished(file, elapsed: .zero) == "done, 1.0 KB in 0.01s, 100.0 KB/s, proof: single")
    }

    @Test("EventText and Reporter: a file of which nothing was fetched has no speed, nor has a run")
    func resumedWhole() {
        let file = FinishedDownload(path: "/d/f", totalBytes: 1000, proof: .strong, receivedBytes: 0)
        #expect(EventText.finished(file, elapsed: .milliseconds(31)) == "done, 1.0 KB in 0.03s, proof: strong")
        let streams = Streams()
        let whole = WholeProgress(fileCount: 2, finishedCount: 2)
        Self.reporter(streams).summary(whole, receivedBytes: 0, elapsed: .seconds(2))
        #expect(streams.error == "2 of 2 files, 0 B in 2s\n")
    }

    @Test("ProgressStyle: it follows options, terminal and NO_COLOR")
    func style() {
        let normal = OutputOptions()
        #expect(ProgressStyle.choose(normal, canDraw: true, environment: [:]) == .bars(color: true))
        #expect(ProgressStyle.choose(normal, canDraw: true, environment: ["NO_COLOR": "1"]) == .bars(color: false))
        #expect(ProgressStyle.choose(normal, canDraw: true, environment: ["NO_COLOR": ""]) == .bars(color: true))
        #expect(ProgressStyle.choose(normal, canDraw: false, environment: [:]) == .lines)
        #expect(ProgressStyle.choose(OutputOptions(showsProgress: false), canDraw: true, environment: [:]) == .none)
        let json = OutputOptions(result: .json, showsProgress: false)
        #expect(ProgressStyle.choose(json, canDraw: true, environment: [:]) == .json)
    }

    @Test("PlainProgress: without a terminal a slow file has a bounded number of lines, and a fast one has one")
    func plain() {
        var plain = PlainProgress()
        var count = 0
        for tick in 0...400 {
            let lines = plain.lines(
                [Self.status(ByteCount(tick) * 2)], whole: Self.whole, elapsed: .milliseconds(tick * 250))
            count += lines.count
        }
        // 100 seconds from 0 to 80 %: one at the start, one each ten seconds, which is sooner than each tenth.
        #expect((10...20).contains(count))

        var fast = PlainProgress()
        let lines = (0...10).flatMap { tick in
            fast.lines([Self.status(ByteCount(tick) * 100)], whole: Self.whole, elapsed: .milliseconds(tick * 100))
        }
        #expect(lines == ["f.iso: 1.0 KB"])

        var endless = PlainProgress()
        var status = Self.status(500)
        status.progress.totalBytes = nil
        let some = [0, 20].flatMap { endless.lines([status], whole: Self.whole, elapsed: .seconds($0)) }
        #expect(some.count == 2 && some[1].hasPrefix("f.iso: 500 B / ?, "), "\(some)")
    }

    @Test("PlainProgress: a list of thousands has lines for the total only")
    func plainWhole() {
        var plain = PlainProgress()
        var lines: [String] = []
        for done in 0...5000 {
            let whole = WholeProgress(fileCount: 5000, finishedCount: done, completedBytes: Int64(done) * 10_000)
            lines += plain.lines([], whole: whole, elapsed: .milliseconds(done * 2))
        }
        #expect((3...6).contains(lines.count))
        #expect(lines.first == "1 of 5000 files, 10.0 KB, 0 B/s")
    }

    @Test("Reporter: what can be done after failures of one kind is said with the first of them")
    func suggestedOnce() {
        let streams = Streams()
        let reporter = Self.reporter(streams)
        for name in ["a", "b", "c"] {
            let error = DownloadError(
                .network, ErrorPhrase(.gaveUp, "3", "503"), suggestion: ErrorPhrase(.runAgain), recovery: .needsUser)
            reporter.failed(error, id: nil, name: name, command: nil, date: Self.date)
        }
        reporter.failed(
            DownloadError(.conflict, "/d/f is there already"), id: nil, name: "f", command: nil, date: Self.date)
        let lines = streams.error.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[0] == "ferry: a: gave up after 3 attempts: 503; run it again to resume")
        #expect(lines[1...2] == ["ferry: b: gave up after 3 attempts: 503", "ferry: c: gave up after 3 attempts: 503"])
        #expect(lines[3].contains("--on-conflict"))
    }

    @Test("Reporter: a long list writes its paths and nothing to standard error")
    func sizeOfOutput() {
        let streams = Streams()
        let reporter = Self.reporter(streams)
        for number in 0..<5000 {
            let id = DownloadID(rawValue: "\(number)")
            reporter.happened(
                DownloadEvent(id: id, date: Self.date, kind: .added(url: "http://h/\(number)")), name: "f")
            reporter.happened(
                DownloadEvent(id: id, date: Self.date, kind: .started(name: "f", totalBytes: 1)), name: "f")
            let file = FinishedDownload(path: "/d/\(number)", totalBytes: 1, proof: .single)
            let event = DownloadEvent(id: id, date: Self.date, kind: .completed(file))
            reporter.completed(file, event: event, name: "f", elapsed: .zero, isOneOfFew: false)
        }
        #expect(streams.error.isEmpty)
        #expect(streams.output.split(separator: "\n").count == 5000)
    }
}
