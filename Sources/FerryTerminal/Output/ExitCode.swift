package import Ferry

/// What the process ends with; the numbers are documented in `--help` and docs/cli.md.
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

    /// The code of one failed file; codes of the library that are not known here count as internal.
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
        case .wrongState, .duplicate: .conflict
        default: .internal
        }
    }

    /// One code for several files: the first present of ``precedence``; `done` when there is none.
    package static func combine(_ codes: some Sequence<ExitCode>) -> ExitCode {
        let present = Set(codes)
        return precedence.first(where: present.contains) ?? .done
    }

    /// The gravest first. A bad line in a list (`usage`) comes last: the rest of the list was fetched.
    package static let precedence: [ExitCode] = [
        .interrupted, .terminated, .internal, .daemon, .disk, .checksum, .remoteChanged, .certificate, .freshLink,
        .refused,
        .network, .conflict, .usage,
    ]

    /// One line for `--help`.
    package var meaning: String {
        switch self {
        case .done: "all files are there, fetched now or complete already"
        case .internal: "a defect in ferry"
        case .usage: "usage: an option, a URL, a list or a directory that cannot be used"
        case .network: "network: no way to the server, or it broke too often"
        case .refused: "refused by the server, or not what was allowed (--max-size, --strict)"
        case .freshLink: "the link is dead or asks for credentials; what to type is printed"
        case .remoteChanged: "the file on the server is no longer the one that was begun"
        case .checksum: "the file does not have the checksum it must have"
        case .disk: "disk: full, failing, or not writable"
        case .conflict: "conflict: the name is taken, another process has the download, or its state forbids it"
        case .certificate: "the server's certificate is not trusted"
        case .daemon: "the daemon does not run, cannot be started, or is of another version"
        case .interrupted: "stopped by SIGINT; run it again to go on"
        case .terminated: "stopped by SIGTERM or SIGHUP; run it again to go on"
        }
    }

    /// The table for `--help`: one code a line.
    package static var help: String {
        allCases.map { DisplayWidth.padLeft(String($0.rawValue), to: 5) + "  " + $0.meaning }.joined(separator: "\n")
    }
}
