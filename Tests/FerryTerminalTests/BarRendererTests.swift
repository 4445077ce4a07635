import Ferry
import FerryTerminal
import FerryTesting
import Foundation
import Testing

@Suite("BarRenderer") struct BarRendererTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private static func status(
        _ name: String, _ completed: ByteCount, of total: ByteCount?, state: DownloadState = .downloading, id: Int = 0
    ) -> DownloadStatus {
        let progress = DownloadProgress(
            completedBytes: completed, totalBytes: total, bytesPerSecond: 12_300_000, timeRemaining: .seconds(45),
            connections: 4)
        return DownloadStatus(id: DownloadID(rawValue: "\(id)"), state: state, progress: progress, name: name)
    }

    private static func board(_ running: [DownloadStatus], files: Int = 1) -> BarBoard {
        var whole = WholeProgress(
            fileCount: files, finishedCount: 1, completedBytes: 1_453_000_000, totalBytes: 4_000_000_000)
        whole.bytesPerSecond = 12_300_000
        whole.connections = 8
        return BarBoard(running: running, whole: whole, now: now)
    }

    private static func lines(_ board: BarBoard, width: Int, height: Int = 24, color: Bool = false) -> [String] {
        BarRenderer(width: width, height: height, usesColor: color).lines(board)
    }

    @Test(
        "BarRenderer: a file has name, bar, percent, size, speed, time left and connections, less where the line is narrow",
        arguments: [
            (
                120,
                "debian-12.iso  [================>                     ]   45.3%    453.0 MB / 1.0 GB   12.3 MB/s      45s   4x"
            ),
            (80, "debian-12.iso  [==>    ]   45.3%    453.0 MB / 1.0 GB   12.3 MB/s      45s   4x"),
            (70, "debian-12.iso   45.3%    453.0 MB / 1.0 GB   12.3 MB/s      45s   4x"),
            (60, "debian-12.iso   45.3%    453.0 MB / 1.0 GB   12.3 MB/s"),
            (40, "debi...iso   45.3%    453.0 MB / 1.0 GB"),
            (20, "debi....iso   45.3%"), (10, "deb...iso"), (3, "de"),
        ])
    func golden(width: Int, expected: String) {
        let lines = Self.lines(Self.board([Self.status("debian-12.iso", 453_000_000, of: 1_000_000_000)]), width: width)
        #expect(lines == [expected])
    }

    @Test(
        "BarRenderer: no line is wider than the terminal, whatever the width and the name",
        arguments: [2, 3, 5, 10, 17, 25, 40, 59, 60, 61, 79, 80, 81, 100, 132, 250])
    func neverWider(width: Int) {
        let names = ["a", "中文文件名很长很长很长很长很长很长很长很长很长.iso", "😀👨‍👩‍👧‍👦.mkv", String(repeating: "long", count: 60), "\u{1B}[2J"]
        let statuses =
            names.enumerated().map { Self.status($0.element, .max, of: $0.offset % 2 == 0 ? .max : nil, id: $0.offset) }
            + [Self.status("w", 1, of: 2, state: .waiting(.retry(at: Self.now + 12)), id: 9)]
        for color in [false, true] {
            let lines = Self.lines(Self.board(statuses, files: 12), width: width, color: color)
            #expect(lines.count == 7)
            var screen = Screen(width: width, height: 50, columns: DisplayWidth.columns(of:))
            screen.write(lines.joined(separator: "\n"))
            #expect(screen.rows.count == 7, "a line wrapped at width \(width)")
        }
    }

    @Test("BarRenderer: columns of different files are aligned, wide characters included")
    func aligned() {
        let lines = Self.lines(
            Self.board([Self.status("中文.iso", 1, of: 2), Self.status("plain.iso", 1, of: 2)], files: 2), width: 100)
        let bars = lines.map { line in DisplayWidth.columns(of: line.prefix { $0 != "[" }) }
        #expect(Set(bars).count == 1)
        #expect(lines.count == 3)
        #expect(lines[2].hasPrefix("1 of 2 files"))
    }

    @Test("BarRenderer: with more files than lines it shows those that fit, a count of the rest, and the total")
    func tooMany() {
        let statuses = (0..<50).map { Self.status("f\($0)", 1, of: 2, id: $0) }
        let lines = Self.lines(Self.board(statuses, files: 50), width: 80, height: 10)
        #expect(lines.count == 9)
        #expect(lines[7] == "... and 43 more")
        #expect(lines[8].hasPrefix("1 of 50 files"))
        #expect(Self.lines(Self.board(statuses, files: 50), width: 80, height: 2).count == 1)
    }

    @Test("BarRenderer: a waiting or verifying file shows the reason instead of its speed")
    func remarks() {
        func line(_ state: DownloadState) -> String {
            Self.lines(Self.board([Self.status("f", 1, of: 2, state: state)]), width: 80)[0]
        }
        #expect(line(.waiting(.retry(at: Self.now + 12))).hasSuffix("  next attempt in 12s"))
        #expect(line(.waiting(.diskSpace)).hasSuffix("  waiting for disk space"))
        #expect(line(.verifying).hasSuffix("  verifying"))
    }

    @Test("BarRenderer: an unknown size has no percent, and an incomplete file never shows 100.0%")
    func unknown() {
        let unknown = Self.lines(Self.board([Self.status("f", 5_000_000, of: nil)]), width: 80)[0]
        #expect(unknown.contains("5.0 MB / ?"))
        #expect(unknown.contains("    --  "))
        #expect(unknown.contains("[......"))
        let almost = Self.lines(Self.board([Self.status("f", 999_999, of: 1_000_000)]), width: 80)[0]
        #expect(almost.contains(" 99.9%"))
    }

    @Test("BarRenderer: without colour the lines have no escape character")
    func plain() {
        let board = Self.board([Self.status("\u{1B}[31m.iso", 1, of: 2)], files: 2)
        #expect(!Self.lines(board, width: 100).joined().unicodeScalars.contains("\u{1B}"))
        #expect(Self.lines(board, width: 100, color: true).joined().contains("\u{1B}[32m"))
    }
}
