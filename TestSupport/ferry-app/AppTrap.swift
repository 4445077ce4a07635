import CBacktrace

/// A program that traps: what its standard error then says is what a daemon's log says.
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
