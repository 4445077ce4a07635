package import FerryCore
import Synchronization
package import SystemPackage

/// An index by URL of the journals in one directory: read once, then updated by its users.
package final class JournalIndex: Sendable {
    /// A journal that cannot be used.
    package struct Problem: Sendable, Hashable {
        package let path: FilePath
        package let error: JournalError
    }

    /// The journals that were unusable when the directory was read, sorted by path.
    package let problems: [Problem]
    private let state: Mutex<State>

    /// The indexed part of a journal. Claims and events are omitted, because a directory may contain 100,000 journals.
    package struct Entry: Sendable, Hashable {
        package let id: String
        package let urls: [String]
        /// The name that the request specified; `nil` if it specified none.
        package let requestedName: String?
    }

    private struct State {
        var records: [FilePath: Entry] = [:]
        var pathsOfURL: [String: Set<FilePath>] = [:]

        mutating func add(_ path: FilePath, _ record: JournalRecord) {
            remove(path)
            records[path] = Entry(
                id: record.id, urls: record.urls,
                requestedName: record.isNameRequested == true ? record.name : nil)
            for url in record.urls { pathsOfURL[url, default: []].insert(path) }
        }

        mutating func remove(_ path: FilePath) {
            guard let record = records.removeValue(forKey: path) else { return }
            for url in record.urls {
                pathsOfURL[url]?.remove(path)
                if pathsOfURL[url]?.isEmpty == true { pathsOfURL[url] = nil }
            }
        }
    }

    /// Reads every `*.part.ferry` of `directory`; a missing directory has none. A journal that a crash left in a
    /// backup without a successor is indexed under its original path.
    package init(directory: FilePath, fileSystem: any FileSystem) throws(FileError) {
        let directory = directory.isEmpty ? FilePath(".") : directory
        var names: [String] = []
        do throws(FileError) {
            names = try fileSystem.list(directory)
        } catch {
            guard error.kind == .notFound else { throw error }
        }
        var state = State()
        var problems: [Problem] = []
        let present = Set(names.map(directory.appending))
        for name in names.sorted() {
            var own = name
            if name.utf8.hasSuffix(DownloadPaths.journalSuffix + DownloadPaths.oldSuffix),
                let young = name.dropping(suffix: DownloadPaths.oldSuffix)
            {
                own = String(young)
                if present.contains(directory.appending(own)) { continue }
            }
            guard own.utf8.hasSuffix(DownloadPaths.journalSuffix) else { continue }
            let path = directory.appending(name)
            do throws(JournalError) {
                state.add(directory.appending(own), try Journal.read(at: path, fileSystem: fileSystem))
            } catch .missing {
                // The journal was removed after the listing.
            } catch {
                if own == name { problems.append(Problem(path: path, error: error)) }
            }
        }
        self.problems = problems
        self.state = Mutex(state)
    }

    /// Rereads the journals whose errors may have been temporary.
    package func lookAgain(with fileSystem: any FileSystem) {
        for problem in problems where problem.error.mayPass && records[problem.path] == nil {
            if let record = try? Journal.read(at: problem.path, fileSystem: fileSystem) { add(problem.path, record) }
        }
    }

    /// The indexed journals, by path.
    package var records: [FilePath: Entry] { state.withLock { $0.records } }

    /// Returns the paths of the journals that list exactly this URL, or its form in earlier versions, sorted.
    package func paths(forURL text: String) -> [FilePath] {
        let texts = [text, DownloadURL.earlierText(of: text)].compactMap(\.self)
        let paths = state.withLock { state in texts.flatMap { state.pathsOfURL[$0] ?? [] } }
        return Set(paths).sorted { $0.string < $1.string }
    }

    /// Adds or updates the entry of a journal.
    package func add(_ path: FilePath, _ record: JournalRecord) { state.withLock { $0.add(path, record) } }

    package func remove(_ path: FilePath) { state.withLock { $0.remove(path) } }
}
