import Ferry
import FerryCore
import FerryTerminal
import Foundation
import Synchronization
import Testing

@testable import FerryAria2

@Suite("Output of aria2c") struct Aria2OutputTests {
    private final class Streams: Sendable {
        let texts = Mutex((output: "", error: "", started: [[String]]()))

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

    private static let id = DownloadID(rawValue: "2089b05ecca3d829")
    private static let other = DownloadID(rawValue: "0123456789abcdef")

    private static func reporter(_ streams: Streams, _ output: Aria2Output = Aria2Output()) throws -> Aria2Reporter {
        var hooks = Aria2Hooks()
        (hooks.start, hooks.complete, hooks.error) = ("begin", "good", "bad")
        let requests = try [(id, "http://h/f"), (other, "http://h/g?secret")].map { id, url in
            var request = DownloadRequest(sources: [try DownloadURL(url)], destination: .directory("/d"))
            if id == Self.id { request.destination = .file("/d/f") }
            request.id = id
            return request
        }
        return Aria2Reporter(
            requests, output, hooks, console: streams.console, isTerminal: false,
            now: { Date(timeIntervalSince1970: 0) },
            start: { program, arguments in
                streams.texts.withLock { $0.started.append([program] + arguments) }
                return program == "bad" ? "No such file" : nil
            })
    }

    private static func status(_ id: DownloadID, _ completed: ByteCount, of total: ByteCount?) -> DownloadStatus {
        let progress = DownloadProgress(
            completedBytes: completed, totalBytes: total, bytesPerSecond: 118_000, timeRemaining: nil, connections: 3)
        return DownloadStatus(id: id, state: .downloading, progress: progress, name: "f")
    }

    @Test(
        "Aria2Output: sizes are those of aria2",
        arguments: [
            (0, "0"), (921, "921"), (922, "0.9Ki"), (1024, "1.0Ki"), (10 << 10, "10Ki"), (300_000, "292Ki"),
            (1_572_864, "1.5Mi"), (943 << 10, "0.9Mi"), (5 << 30, "5.0Gi"), (2000 << 30, "2000Gi"),
        ] as [(Int64, String)])
    func sizes(count: Int64, text: String) {
        #expect(Aria2Output().size(count) == text)
        var plain = Aria2Output()
        plain.isHumanReadable = false
        #expect(plain.size(count) == String(count))
    }

    @Test("Aria2Output: the readout of one download, of several, and the times")
    func readout() throws {
        let output = Aria2Output()
        #expect(
            output.readout(Self.status(Self.id, 49_152, of: 300_000))
                == "[#2089b0 48KiB/292KiB(16%) CN:3 DL:115KiB ETA:2s]")
        #expect(output.readout(Self.status(Self.id, 49_152, of: nil)) == "[#2089b0 48KiB/0B CN:3 DL:115KiB]")
        let many = Array(repeating: Self.status(Self.id, 0, of: 0), count: 7)
        #expect(output.readout(many, bytesPerSecond: 1024).hasSuffix("[#2089b0 0B/0B](+2)"))
        #expect(Aria2Output.duration(3723) == "1h2m3s" && Aria2Output.duration(59) == "59s")
        let zone = LocalZone.fixed(0)
        let date = Date(timeIntervalSince1970: 1_000_000_000)
        #expect(Aria2Output.asctime(date, in: zone) == "Sun Sep  9 01:46:40 2001")
        #expect(Aria2Output.time(date, in: zone) == "09/09 01:46:40")
    }

    @Test("Aria2Reporter: the whole output of a run with a file that is complete and one that is missing")
    func whole() throws {
        let streams = Streams()
        let reporter = try Self.reporter(streams)
        reporter.begin()
        let file = FinishedDownload(path: "/d/f", totalBytes: 3 << 20, proof: .strong, receivedBytes: 3 << 20)
        let done = DownloadEvent(id: Self.id, date: Date(), kind: .completed(file))
        reporter.completed(file, event: done, name: "f", elapsed: .seconds(2), isOneOfFew: true)
        let error = DownloadError(.refused, ErrorPhrase(.serverAnswered, "404"))
        reporter.failed(error, id: Self.other, name: "http://h/g?…", command: nil, date: Date())
        #expect(reporter.finish() == .notFound)
        let stamp = try #require(streams.output.split(separator: " [").first).dropFirst()
        #expect(
            streams.output.replacingOccurrences(of: stamp, with: "DATE") == """

                DATE [NOTICE] Downloading 2 item(s)

                DATE [NOTICE] Download complete: /d/f

                DATE [ERROR] CUID#0 - Download aborted. URI=http://h/g?…
                Exception: errorCode=3 the server answered 404

                DATE [NOTICE] Download GID#0123456789abcdef not complete:\u{20}

                DATE [ERROR] cannot run bad: No such file

                Download Results:
                gid   |stat|avg speed  |path/URI
                ======+====+===========+=======================================================
                2089b0|OK  |   1.5MiB/s|/d/f
                012345|ERR |        n/a|http://h/g?…

                Status Legend:
                (OK):download completed.(ERR):error occurred.

                aria2 will resume download if the transfer is restarted.

                """)
        #expect(
            streams.texts.withLock { $0.started } == [
                ["begin", Self.id.rawValue, "1", "/d/f"], ["good", Self.id.rawValue, "1", "/d/f"],
                ["begin", Self.other.rawValue, "1", ""], ["bad", Self.other.rawValue, "1", ""],
            ])
    }

    @Test("Aria2Advice: no suggestion names an option that aria2c does not have", arguments: ErrorPhrase.Key.allCases)
    func advice(key: ErrorPhrase.Key) throws {
        let error = DownloadError(.refused, "bad", suggestion: nil).suggesting(ErrorPhrase(key, "f", "g", "h"))
        let line = Aria2Advice.line(error)
        #expect(line.utf8.hasPrefix("bad"))
        // The whole commands of `ferry` have its own options.
        let own = line.replacing("ferry get --checksum none", by: "")
        for word in own.split(whereSeparator: { " ;,.()=".contains($0) }) where word.utf8.hasPrefix("--") {
            #expect(Aria2Option.named(String(word.dropFirst(2)))?.command == .applied, "\(key): \(line)")
        }
        #expect(!own.utf8.contains("--checksum none") && !own.utf8.contains("or none"), "\(line)")
    }

    @Test(
        "Aria2Advice: a remedy is given in options of aria2c, and clauses with other options are omitted",
        arguments: [
            (.giveCredentialsFirst, "bad; Give --http-user and --http-passwd, or --header, and run it again."),
            (
                .giveAuthority,
                "bad; Give the authority with --ca-certificate; --check-certificate=false would trust anyone."
            ),
            (.allowDowngrade, "bad"), (.runAgain, "bad; Run it again to resume."),
        ] as [(ErrorPhrase.Key, String)])
    func remedies(key: ErrorPhrase.Key, line: String) {
        #expect(Aria2Advice.line(DownloadError(.refused, "bad").suggesting(ErrorPhrase(key))) == line)
    }

    @Test("Aria2Advice: the facts of a sentence stay without the hint at an option of ferry get")
    func facts() {
        let unproven = "the server now gives no validator"
        #expect(Aria2Advice.known(unproven + " (--resume-unproven compares samples)") == unproven)
        #expect(Aria2Advice.known("x is expected; --checksum none drops it") == "x is expected")
        #expect(Aria2Advice.known("f (1).bin; a (b) c;d") == "f (1).bin; a (b) c;d")
    }

    @Test("Aria2Reporter: the summary comes at its interval and the readout each time; what is open is status 7")
    func progress() throws {
        let streams = Streams()
        var output = Aria2Output()
        (output.summaryInterval, output.results) = (.seconds(2), .full)
        let reporter = try Self.reporter(streams, output)
        let open = [Self.status(Self.id, 49_152, of: 300_000)]
        for second in 1...2 {
            reporter.tick(open, whole: WholeProgress(), elapsed: .seconds(second), date: Date())
        }
        #expect(reporter.finish() == .unfinished)
        let lines = streams.output.split(separator: "\n", omittingEmptySubsequences: false)
        let readout = "[#2089b0 48KiB/292KiB(16%) CN:3 DL:115KiB ETA:2s]"
        #expect(lines[0] == readout && lines[1].hasPrefix(" *** Download Progress Summary as of "))
        #expect(lines[3] == readout && lines[4] == "FILE: /d/f" && lines[7] == readout)
        #expect(
            streams.output.contains("\n2089b0|INPR|   115KiB/s| 16|/d/f\n012345|INPR|        n/a|  -|http://h/g?…\n"))
    }

    @Test("Aria2Reporter: -q prints nothing, and --download-result=hide no table")
    func quiet() throws {
        let streams = Streams()
        var output = Aria2Output()
        output.isQuiet = true
        var reporter = try Self.reporter(streams, output)
        reporter.begin()
        reporter.tick([Self.status(Self.id, 0, of: 1)], whole: WholeProgress(), elapsed: .seconds(90), date: Date())
        _ = reporter.finish()
        #expect(streams.output.isEmpty && streams.error.isEmpty)
        (output.isQuiet, output.results, output.usesStandardError) = (false, .hide, true)
        reporter = try Self.reporter(streams, output)
        _ = reporter.finish()
        #expect(
            streams.output.isEmpty && streams.error == "\naria2 will resume download if the transfer is restarted.\n")
    }

    @Test(
        "Aria2ExitStatus: the sentence of an error tells the status, else its code",
        arguments: [
            (DownloadError(.refused, ErrorPhrase(.serverAnswered, "404")), .notFound),
            (DownloadError(.refused, ErrorPhrase(.gaveUp, "5", Reason(.serverAnswered, "503"))), .overloaded),
            (DownloadError(.refused, ErrorPhrase(.serverAnswered, "403")), .unusableResponse),
            (.deadLink(Reason(.serverAnswered, "401"), status: 401, holdsBytes: false), .unauthorized),
            (DownloadError(.network, ErrorPhrase(.gaveUpOnce, Reason(.noAnswerInTime, "h"))), .timeout),
            (DownloadError(.network, ErrorPhrase(.gaveUpOnce, Reason(.noSuchHost, "h"))), .nameResolution),
            (DownloadError(.network, ErrorPhrase(.gaveUpOnce, Reason(.connectionClosed, "h", "x"))), .unknown),
            (DownloadError(.network, ErrorPhrase(.gaveUpOnce, Reason(.connectionReset, "h"))), .unknown),
            (DownloadError(.network, "odd"), .network), (DownloadError(.checksum, "odd"), .checksum),
            (DownloadError(.diskFull, "odd"), .diskFull), (DownloadError(.conflict, "odd"), .alreadyExists),
            (DownloadError(.refused, ErrorPhrase(.tooManyRedirects, "20")), .tooManyRedirects),
            (DownloadError(.conflict, ErrorPhrase(.otherFile, "odd")), .cannotResume),
        ] as [(DownloadError, Aria2ExitStatus)])
    func statuses(error: DownloadError, status: Aria2ExitStatus) { #expect(Aria2ExitStatus.of(error) == status) }
}
