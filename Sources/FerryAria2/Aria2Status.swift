package import Ferry
package import FerryCore

/// The status of a download in aria2's terms.
package enum Aria2State: String, Sendable, CaseIterable {
    case active, waiting, paused, complete, error, removed

    /// A download that waits for a fresh link or credentials is shown as failed, because aria2 would report it as failed. The
    /// download still continues when it receives them.
    package init(_ state: DownloadState) {
        self =
            switch state {
            case .downloading, .verifying: .active
            case .waiting(.freshLink), .waiting(.credentials), .failed: .error
            case .waiting: .waiting
            case .paused: .paused
            case .completed: .complete
            case .cancelled: .removed
            }
    }

    /// The list that `tellActive`, `tellWaiting` or `tellStopped` returns.
    package enum Group: Sendable, CaseIterable {
        case active, waiting, stopped

        /// The states of the downloads in the list.
        package var kinds: Set<StateKind> {
            switch self {
            case .active: [.downloading, .verifying]
            case .waiting:
                [
                    .waitingForSlot, .waitingForNetwork, .waitingToRetry, .waitingForDiskSpace, .waitingToStart,
                    .paused,
                ]
            case .stopped: [.waitingForFreshLink, .waitingForCredentials, .failed, .completed, .cancelled]
            }
        }
    }

    package var group: Group {
        switch self {
        case .active: .active
        case .waiting, .paused: .waiting
        case .complete, .error, .removed: .stopped
        }
    }
}

/// A snapshot of a download, as `tellStatus` and the related methods return it. All numbers are strings.
package struct Aria2Status: Sendable {
    package var row: CatalogueRow
    package var status: DownloadStatus
    /// The bytes that are on the disk; `nil` if they were not requested or are unknown.
    package var written: RangeSet<ByteCount>?

    package init(row: CatalogueRow, status: DownloadStatus, written: RangeSet<ByteCount>? = nil) {
        self.row = row
        self.status = status
        self.written = written
    }

    package var state: Aria2State { Aria2State(status.state) }
    package var gid: Aria2GID { Aria2GID(row.id) }

    /// Returns the members with these keys; `nil` for all that apply.
    package func value(_ keys: Set<String>?) -> JSONValue {
        var members: [String: JSONValue] = [:]
        func put(_ key: String, _ value: @autoclosure () -> JSONValue?) {
            guard keys?.contains(key) ?? true else { return }
            members[key] = value()
        }
        let pieces = Aria2Pieces(total: total)
        put("gid", .text(gid.description))
        put("status", .text(state.rawValue))
        put("totalLength", Self.number(total))
        put("completedLength", Self.number(status.progress.completedBytes))
        put("uploadLength", "0")
        put("downloadSpeed", Self.number(speed))
        put("uploadSpeed", "0")
        put("connections", Self.number(Int64(status.progress.connections)))
        put("pieceLength", Self.number(pieces.length))
        put("numPieces", Self.number(Int64(pieces.count)))
        put("bitfield", bitfield(pieces).map { JSONValue.text($0) })
        put("dir", .text(row.directory ?? ""))
        put("files", files)
        if state.group == .stopped {
            put("errorCode", .text(String(exitStatus.rawValue)))
            put("errorMessage", .text(error?.message ?? ""))
        }
        return .object(members)
    }

    package var files: JSONValue {
        [
            [
                "index": "1", "path": .text(path), "selected": "true", "length": Self.number(total),
                "completedLength": Self.number(status.progress.completedBytes), "uris": uris,
            ]
        ]
    }

    /// The sources. aria2 marks a source as `used` once it has started to download from it; Ferry starts with the first one.
    package var uris: JSONValue {
        let hasBegun = state.group != .waiting || status.progress.completedBytes > 0
        return .list(
            row.request.sources.enumerated().map { index, url in
                ["uri": .text(url.text), "status": index == 0 && hasBegun ? "used" : "waiting"]
            })
    }

    /// Returns the connections by server; `finalURL` is the target of the redirects.
    package func servers(finalURL: String?) -> JSONValue {
        let uri = row.request.sources.first?.text ?? ""
        let server: JSONValue = [
            "uri": .text(uri), "currentUri": .text(finalURL ?? uri), "downloadSpeed": Self.number(speed),
        ]
        return [["index": "1", "servers": [server]]]
    }

    private static func number(_ number: Int64) -> JSONValue { .text(String(number)) }

    private var total: ByteCount { status.progress.totalBytes ?? 0 }

    private var speed: Int64 {
        max(0, Int64(exactly: status.progress.bytesPerSecond.rounded(.towardZero)) ?? 0)
    }

    /// The present or future path of the finished file; empty while its name depends on the server.
    private var path: String {
        if let path = status.path { return path }
        switch row.request.destination {
        case .directory(let directory, .exact(let name)): return Paths.join(directory, name)
        case .file(let path): return path
        case .directory(_, .suggested), .part, .stream: return ""
        }
    }

    private func bitfield(_ pieces: Aria2Pieces) -> String? {
        guard pieces.count > 0 else { return nil }
        if state == .complete { return pieces.bitfield(of: RangeSet(0..<total)) }
        return written.map { pieces.bitfield(of: $0) }
    }

    private var error: DownloadError? {
        if case .failed(let error) = status.state { return error }
        return state == .error ? status.waitError : nil
    }

    /// The exit status that aria2 documents for this result.
    private var exitStatus: Aria2ExitStatus {
        switch status.state {
        case .cancelled: .removed
        case .waiting(.freshLink): .notFound
        case .waiting(.credentials): .unauthorized
        case .failed(let error): .of(error)
        case .completed, .waiting, .downloading, .verifying, .paused: .done
        }
    }
}

/// The pieces into which aria2 divides a file: 1 MiB each, or larger if the file would have too many pieces.
package struct Aria2Pieces: Sendable, Hashable {
    package static let leastLength: ByteCount = 1 << 20
    /// The maximum number of pieces. It limits a bit field to 16 KiB of digits, whatever size a server declares.
    package static let most: ByteCount = 1 << 16

    package let total: ByteCount
    /// The length of each piece but the last, in bytes.
    package let length: ByteCount
    package let count: Int

    package init(total: ByteCount) {
        var length = Self.leastLength
        while total / length >= Self.most { length *= 2 }
        self.total = total
        self.length = length
        count = Int(total / length) + (total.isMultiple(of: length) ? 0 : 1)
    }

    /// Returns one bit for each piece in hexadecimal digits, the first piece in the highest bit. A bit is set if all bytes of
    /// the piece are written.
    package func bitfield(of written: RangeSet<ByteCount>) -> String {
        var bytes = [UInt8](repeating: 0, count: (count + 7) / 8)
        for range in written.ranges {
            let first = Int(clamping: (range.lowerBound + length - 1) / length)
            let end = range.upperBound >= total ? count : Int(clamping: range.upperBound / length)
            guard first < end else { continue }
            for piece in first..<end { bytes[piece / 8] |= 0x80 >> UInt8(piece % 8) }
        }
        return HexText.string(bytes)
    }
}
