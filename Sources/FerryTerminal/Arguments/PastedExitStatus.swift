/// The exit status of a command that was started as curl or wget: the status that the original would return, for scripts.
/// Pure.
package enum PastedExitStatus {
    /// - Parameter program: The first word of the command line.
    package static func of(_ code: ExitCode, after program: String) -> Int32 {
        switch program {
        case "curl": curl(code)
        case "wget": wget(code)
        default: code.rawValue
        }
    }

    private static func curl(_ code: ExitCode) -> Int32 {
        switch code {
        case .done, .interrupted, .terminated: code.rawValue
        case .usage: 2
        case .network: 7
        case .refused, .freshLink: 22
        case .disk, .conflict: 23
        case .remoteChanged: 18
        case .checksum: 56
        case .certificate: 60
        case .internal, .daemon: 1
        }
    }

    private static func wget(_ code: ExitCode) -> Int32 {
        switch code {
        case .done, .interrupted, .terminated: code.rawValue
        case .usage: 2
        case .network: 4
        case .freshLink: 6
        case .refused, .remoteChanged: 8
        case .disk, .conflict: 3
        case .checksum: 7
        case .certificate: 5
        case .internal, .daemon: 1
        }
    }
}
