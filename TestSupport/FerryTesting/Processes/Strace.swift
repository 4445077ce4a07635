import Foundation

/// `strace`, which kills a program as it enters its n-th system call of some kinds, or holds it there.
public enum Strace {
    /// Whether it is installed and may trace here (a container may forbid it).
    public static let canInject = RunningProgram.succeeds([
        "strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "inject=fsync:signal=KILL:when=9", "true",
    ])

    /// A line for `sh -c` that runs a command, `"$@"`, until its n-th call of these kinds, `fsync,linkat`, and kills it there.
    public static func line(calls: String, count: Int) -> String {
        """
        exec strace -f -qq --seccomp-bpf -o /dev/null -e trace=\(calls) \
        -e inject=\(calls):signal=KILL:when=\(count) "$@"
        """
    }

    /// Holds every thread of a running program that syncs a file, for longer than a test takes; returns once it is on.
    ///
    /// - Returns: What holds. A program that has left is seen by ``hasLeft(_:)``, and ends once this was killed: until then
    ///   the thread that is held stays.
    public static func holdSyncs(of id: Int32) async throws -> RunningProgram {
        let tracer = try RunningProgram([
            "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync",
            "-e", "inject=fdatasync,fsync:delay_enter=2000000000", "-p", "\(id)",
        ])
        try await eventually { threads(of: id).allSatisfy { isTraced($0) } }
        return tracer
    }

    /// Whether a thread of this program stands before a sync.
    public static func isSyncing(_ id: Int32) -> Bool {
        threads(of: id).contains { thread in
            let call = (try? String(contentsOfFile: thread + "/syscall", encoding: .utf8))?.prefix { $0 != " " }
            return call.map { syncs.contains(String($0)) } ?? false
        }
    }

    /// Whether a program has left, though threads of it may still be held.
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
