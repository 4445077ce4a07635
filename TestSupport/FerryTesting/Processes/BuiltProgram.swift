public import Foundation

/// The programs that tests run as processes of their own.
public enum BuiltProgram {
    /// Returns the program: for `ferry` and `ferry-origin` the one that the variable `FERRY` or `FERRY_ORIGIN` names, as for the
    /// suites in Python; else the one that was built with the tests, beside them.
    public static func url(_ name: String) throws -> URL {
        let variable = ["ferry": "FERRY", "ferry-origin": "FERRY_ORIGIN"][name]
        if let path = variable.flatMap({ ProcessInfo.processInfo.environment[$0] }) { return URL(filePath: path) }
        var directory = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        if let bundle = Bundle.main.executableURL { directory = bundle.deletingLastPathComponent() }
        for _ in 0..<5 {
            let candidate = directory.appending(path: name)
            var isDirectory: ObjCBool = false
            if FileManager.default.fileExists(atPath: candidate.path, isDirectory: &isDirectory), !isDirectory.boolValue
            {
                return candidate
            }
            directory.deleteLastPathComponent()
        }
        throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "\(name), beside the tests"])
    }
}
