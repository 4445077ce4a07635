import ArgumentParser
import FerryTesting
import Foundation

/// `ferry-origin ca FILE`.
struct AuthorityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca", abstract: "Write the certificate of the test authority (PEM) to a file.")

    @Argument(help: "The file; -: standard output.") var file: String

    func run() throws {
        if file == "-" {
            print(OriginServer.caPEM, terminator: "")
        } else {
            try Data(OriginServer.caPEM.utf8).write(to: URL(fileURLWithPath: file))
        }
    }
}
