public import Foundation

/// The programs that tests run as processes of their own.
public enum BuiltProgram {
    /// Returns the program: for `ferry` and `ferry-origin` the one that the variable `FERRY` or `FERRY_ORIGIN` names, as for the
    /// suites in Python; else the one that was built with the tests, beside them.
    public static func url(_ name: String) throws -> URL {
        let variable = ["ferry": "FERRY", "ferry-origin": "FERRY_ORIGIN"][name]
        if let path = variable.flatMap({ ProcessInfo.processInfo.environment[$0] }) { return URL(filePath: path) }
        var directory = URL(filePath: Bundle.main.executablePath ?? CommandLine.arguments[0]).deletingLastPathComponent()
        for _ in 0..<5 {
            let candidate = directory.appending(path: name)
            let attributes = try? FileManager.default.attributesOfItem(atPath: candidate.path)
            if attributes?[.type] as? FileAttributeType == .typeRegular { return candidate }
            directory = directory.deletingLastPathComponent()
        }
        throw CocoaError(.fileNoSuchFile)
    }
}
