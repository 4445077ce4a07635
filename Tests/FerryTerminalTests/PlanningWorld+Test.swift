import ArgumentParser
import FerryCore
import FerryTerminal

extension PlanningWorld {
    /// A machine with these files and directories; every directory but `/readonly` can be written.
    static func test(
        files: [String: String] = [:], directories: Set<String> = [".", "/d"], environment: [String: String] = [:],
        openFileLimit: Int? = nil, password: String? = nil, journals: [String: [String]] = [:], answer: Bool? = nil,
        asked: @escaping @Sendable (String) -> Void = { _ in }
    ) -> PlanningWorld {
        PlanningWorld(
            environment: environment, openFileLimit: openFileLimit,
            readText: { path throws(UsageError) in
                guard let text = files[path] else { throw UsageError("No such file or directory") }
                return text
            },
            kind: { files[$0] != nil ? .file : directories.contains($0) ? .directory : .missing },
            prepareDirectory: { path throws(UsageError) in
                if path.hasPrefix("/readonly") {
                    throw UsageError("cannot write to directory \(path): Read-only file system")
                }
            },
            password: { user throws(UsageError) in
                guard let password else { throw UsageError("there is no terminal to ask on") }
                return password
            },
            journalOrigins: { Set((journals[$0] ?? []).compactMap { try? DownloadURL($0).origin }) },
            confirm: { question throws(UsageError) in
                asked(question)
                guard let answer else { throw UsageError("there is no terminal to confirm on") }
                return answer
            })
    }
}

extension GetOptions {
    static func of(_ items: String..., change: (inout GetOptions) -> Void = { _ in }) -> GetOptions {
        do {
            var options = try GetOptions.parse(items)
            change(&options)
            return options
        } catch { preconditionFailure("these are arguments: \(error)") }
    }
}

extension GetPlan {
    /// What is said of the entries that cannot be used.
    var badLines: [String] { items.compactMap { if case .unusable(let line) = $0 { line } else { nil } } }
}
