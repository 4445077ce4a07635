import FerryCore
import FerryTerminal

extension PlanningWorld {
    /// A machine with these files, and the directories `.` and `/d`. Every directory but `/readonly` can be written.
    static func test(
        files: [String: String], environment: [String: String] = [:], answer: Bool? = nil
    ) -> PlanningWorld {
        PlanningWorld(
            environment: environment,
            readText: { path throws(UsageError) in
                guard let text = files[path] else { throw UsageError("No such file or directory") }
                return text
            },
            kind: { files[$0] != nil ? .file : [".", "/d"].contains($0) ? .directory : .missing },
            prepareDirectory: { path throws(UsageError) in
                if path.hasPrefix("/readonly") {
                    throw UsageError("cannot write to directory \(path): Read-only file system")
                }
            },
            password: { _ throws(UsageError) in throw UsageError("there is no terminal to ask on") },
            confirm: { _ throws(UsageError) in
                guard let answer else { throw UsageError("there is no terminal to confirm on") }
                return answer
            })
    }
}
