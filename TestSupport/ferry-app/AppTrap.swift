import CBacktrace

/// A program that traps. Its standard error then contains the same text as the log of a daemon that traps.
enum AppTrap {
    static func run() -> Never {
        ferry_backtrace_on_traps(nil)
        read(element: CommandLine.arguments.count, of: [])
    }

    @inline(never) private static func read(element index: Int, of numbers: [Int]) -> Never {
        print(numbers[index])
        preconditionFailure("an empty array has an element")
    }
}
