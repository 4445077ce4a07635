import ArgumentParser
import FerryTesting

/// `ferry-origin compare --seed S --size N FILE`.
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare a file with the bytes of a seed; exit code 1 and where when it differs.")

    @Option(help: "Which bytes.") var seed: UInt64 = 1
    @Option(help: "How many (5M, 1GiB).") var size: String
    @Argument(help: "The file.") var file: String

    func run() throws {
        guard let count = ByteSize.parse(size) else { throw ValidationError("not a size: \(size)") }
        let result = DeterministicBytes(seed: seed).compare(file: file, size: count)
        print("\(file): \(result)")
        if result != .equal { throw ExitCode(1) }
    }
}
