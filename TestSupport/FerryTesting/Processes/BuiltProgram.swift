public import Foundation

/// The programs that tests run in processes of their own.
public enum BuiltProgram {
    /// Returns the program. The variables `FERRY` and `FERRY_ORIGIN` name the programs `ferry` and `ferry-origin`, as in
    /// the Python suites; otherwise, the program was built with the tests and is beside them.
    public static func url(_ name: String) throws -> URL {
        let variable = ["ferry": "FERRY", "ferry-origin": "FERRY_ORIGIN"][name]
        if let path = variable.flatMap({ ProcessInfo.processInfo.environment[$0] }) { return URL(filePath: path) }
        let tests = URL(filePath: Bundle.main.executablePath ?? CommandLine.arguments[0])
        var directory = tests.deletingLastPathComponent()
        for _ in 0..<5 {
            let candidate = directory.appending(path: name)
            let files = FileManager.default
            let isDirectory = (try? files.contentsOfDirectory(atPath: candidate.path)) != nil
            if !isDirectory, files.isExecutableFile(atPath: candidate.path) { return candidate }
            directory = directory.deletingLastPathComponent()
        }
        throw CocoaError(.fileNoSuchFile)
    }
}
