import Foundation

/// `strace`, which kills a program at its n-th system call of given kinds, or holds it there.
public enum Strace {
    /// Whether strace is installed and may trace here, which a container may forbid.
    public static let canInject = RunningProgram.succeeds([
        "strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "inject=fsync:signal=KILL:when=9", "true",
    ])

    /// Returns a line for `sh -c` that runs the command `"$@"` and kills it at the n-th of these calls, such as
    /// `fsync,linkat`.
    public static func line(calls: String, count: Int) -> String {
        """
        exec strace -f -qq --seccomp-bpf -o /dev/null -e trace=\(calls) \
        -e inject=\(calls):signal=KILL:when=\(count) "$@"
        """
    }

    /// Holds every thread of a running program that syncs a file, for longer than a test takes. Returns once tracing
    /// is active.
    ///
    /// - Returns: The tracer. A held thread stays until the tracer is killed; ``hasLeft(_:)`` detects an exit of the
    ///   program before that.
    public static func holdSyncs(of id: Int32) async throws -> RunningProgram {
        let tracer = try RunningProgram([
            "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync",
            "-e", "inject=fdatasync,fsync:delay_enter=2000000000", "-p", "\(id)",
        ])
        try await eventually { threads(of: id).allSatisfy { isTraced($0) } }
        return tracer
    }

    /// Writes the system calls of these kinds that a running program makes from now on into a file, with the paths of
    /// descriptors. Returns once tracing is active; ends when the tracer is interrupted.
    public static func record(calls: String, of id: Int32, to path: String) async throws -> RunningProgram {
        let tracer = try RunningProgram([
            "strace", "-f", "-qq", "-y", "-o", path, "-e", "trace=\(calls)", "-p", "\(id)",
        ])
        try await eventually { threads(of: id).allSatisfy { isTraced($0) } }
        return tracer
    }

    /// Whether a thread of this program is in a sync call.
    public static func isSyncing(_ id: Int32) -> Bool {
        threads(of: id).contains { thread in
            let call = (try? String(contentsOfFile: thread + "/syscall", encoding: .utf8))?.prefix { $0 != " " }
            return call.map { syncs.contains(String($0)) } ?? false
        }
    }

    /// Whether a program has exited, even if threads of it are still held.
    public static func hasLeft(_ id: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8) else { return true }
        return status.contains("State:\tZ")
    }

    #if arch(arm64)
        private static let syncs: Set<String> = ["82", "83"]
    #else
        private static let syncs: Set<String> = ["74", "75"]
    #endif

    private static func threads(of id: Int32) -> [String] {
        let tasks = "/proc/\(id)/task"
        return ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).map { tasks + "/" + $0 }
    }

    private static func isTraced(_ thread: String) -> Bool {
        guard let status = try? String(contentsOfFile: thread + "/status", encoding: .utf8) else { return true }
        return !status.contains("TracerPid:\t0\n")
    }
}
