import ArgumentParser
import FerryTesting

/// `ferry-origin print --seed S --size N | sha256sum`.
struct PrintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print", abstract: "Write the bytes of a file to standard output, for sha256sum.")

    @Option(help: "Which bytes.") var seed: UInt64 = 1
    @Option(help: "How many (5M, 1GiB).") var size: String

    func run() throws {
        guard let count = ByteSize.parse(size) else { throw ValidationError("not a size: \(size)") }
        if !DeterministicBytes(seed: seed).write(size: count, to: 1) { throw ExitCode(1) }
    }
}
