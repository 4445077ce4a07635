import FerryCore
import FerryTesting
import Foundation

#if canImport(Glibc)
    import Glibc

    /// Programs that run as user 65534, which needs no account.
    package enum OtherUser {
        package static let number: UInt32 = 65_534
        package static let isPossible =
            geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0 && access("/bin/bash", X_OK) == 0

        /// Runs a program; returns its output.
        package static func run(_ arguments: [String]) async throws -> String {
            let words = ["--reuid", "\(number)", "--regid", "\(number)", "--clear-groups"] + arguments
            return try await RawConnection.blocking {
                Result {
                    let output = try RunningProgram.output(["/usr/bin/setpriv"] + words, mayFail: true)
                    return String(decoding: output, as: UTF8.self)
                }
            }.get()
        }

        /// Sends a text to a port of loopback; returns the response.
        package static func send(_ text: String, port: Int) async throws -> String {
            let escaped = text.replacing("\r", by: "\\r").replacing("\n", by: "\\n")
            let talk = "exec 3<>/dev/tcp/127.0.0.1/\(port); printf '\(escaped)' >&3; cat <&3"
            return try await run(["/bin/bash", "-c", talk])
        }
    }
#endif
