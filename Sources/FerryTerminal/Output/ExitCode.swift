package import Ferry

/// The exit status of the process, documented in `--help` and docs/cli.md.
package enum ExitCode: Int32, Sendable, Hashable, CaseIterable {
    case done = 0
    case `internal` = 1
    case usage = 2
    case network = 3
    case refused = 4
    case freshLink = 5
    case remoteChanged = 6
    case checksum = 7
    case disk = 8
    case conflict = 9
    case certificate = 10
    case daemon = 11
    case interrupted = 130
    case terminated = 143

    /// Returns the code for one failed file. Unknown library codes count as internal.
    package static func of(_ error: DownloadError) -> ExitCode {
        switch error.code {
        case .invalidRequest: .usage
        case .network: .network
        case .refused, .tooLarge, .unproven: .refused
        case .freshLink, .credentials: .freshLink
        case .remoteChanged: .remoteChanged
        case .checksum: .checksum
        case .disk, .diskFull: .disk
        case .conflict: .conflict
        case .certificate: .certificate
        case .daemonUnavailable: .daemon
        case .notFound: .usage
        case .wrongState, .duplicate, .notResumable: .conflict
        default: .internal
        }
    }

    /// Returns one code for several files: the first in ``precedence`` that is present; `done` if there are none.
    package static func combine(_ codes: some Sequence<ExitCode>) -> ExitCode {
        let present = Set(codes)
        return precedence.first(where: present.contains) ?? .done
    }

    /// The codes by descending severity. A bad line in a list (`usage`) comes last, because the rest of the list was
    /// downloaded.
    package static let precedence: [ExitCode] = [
        .interrupted, .terminated, .internal, .daemon, .disk, .checksum, .remoteChanged, .certificate, .freshLink,
        .refused,
        .network, .conflict, .usage,
    ]

    /// The code of a run whose files may fail: `done` in place of the codes of single files, which the results report.
    package var allowingFailures: ExitCode {
        switch self {
        case .internal, .disk, .daemon, .interrupted, .terminated: self
        case .done, .usage, .network, .refused, .freshLink, .remoteChanged, .checksum, .conflict, .certificate: .done
        }
    }

    /// The description in `--help`.
    package var meaning: String {
        switch self {
        case .done: "all files are complete, downloaded now or earlier"
        case .internal: "internal error"
        case .usage: "usage: invalid option, URL, list or directory"
        case .network: "network: no connection to the server, or too many failures"
        case .refused: "refused by the server, or by an option (--max-size, --strict)"
        case .freshLink: "the link is dead or needs credentials; the resume command is printed"
        case .remoteChanged: "the file on the server has changed"
        case .checksum: "the checksum does not match"
        case .disk: "disk: full, failing, or not writable"
        case .conflict:
            "conflict: name or download in use, wrong state, cancelled or removed while watched"
        case .certificate: "the server's certificate is not trusted"
        case .daemon: "the daemon is not running, cannot be started, or has another version"
        case .interrupted: "stopped by SIGINT; run the same command again to resume"
        case .terminated: "stopped by SIGTERM or SIGHUP; run the same command again to resume"
        }
    }

    /// The table for `--help`, with one code per line.
    package static var help: String {
        allCases.map { DisplayWidth.padLeft(String($0.rawValue), to: 5) + "  " + $0.meaning }.joined(separator: "\n")
    }
}
