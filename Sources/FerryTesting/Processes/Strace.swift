/// `strace`, which kills a program as it enters its n-th system call of some kinds.
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
}
