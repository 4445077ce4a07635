import Foundation

#if canImport(Glibc)
    import Glibc

    /// Programs that run as user 65534, which needs no account.
    enum OtherUser {
        static let number: UInt32 = 65_534
        static let isPossible =
            geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0 && access("/bin/bash", X_OK) == 0

        /// Runs a program; returns its output.
        ///
        /// Not with Foundation's `Process`, which traps at times while this process has thousands of open files.
        static func run(_ arguments: [String]) async throws -> String {
            let words =
                ["/usr/bin/setpriv", "--reuid", "\(number)", "--regid", "\(number)", "--clear-groups"] + arguments
            let command = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
            return try await RawConnection.blocking {
                Result {
                    guard let pipe = popen(command + " 2>/dev/null", "re") else { throw CocoaError(.fileReadUnknown) }
                    defer { pclose(pipe) }
                    var bytes: [UInt8] = []
                    while true {
                        let byte = getc(pipe)
                        if byte == EOF { break }
                        bytes.append(UInt8(truncatingIfNeeded: byte))
                    }
                    return String(decoding: bytes, as: UTF8.self)
                }
            }.get()
        }

        /// Sends a text to a port of loopback; returns the response.
        static func send(_ text: String, port: Int) async throws -> String {
            let escaped = text.replacing("\r", with: "\\r").replacing("\n", with: "\\n")
            let talk = "exec 3<>/dev/tcp/127.0.0.1/\(port); printf '\(escaped)' >&3; cat <&3"
            return try await run(["/bin/bash", "-c", talk])
        }
    }
#endif
