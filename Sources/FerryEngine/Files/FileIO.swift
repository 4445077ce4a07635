import SystemPackage

/// The only access to the file system: blocking calls are made on ``FileThreads`` and nowhere else.
///
/// File calls need the value ``Disk``, which only file threads have. So no file call can be written that an event loop,
/// an actor or Swift's thread pool would wait for.
package struct FileIO: Sendable {
    private let fileSystem: any FileSystem
    private let threads: FileThreads

    package init(_ fileSystem: any FileSystem, threads: FileThreads = .shared) {
        self.fileSystem = fileSystem
        self.threads = threads
    }

    /// The same access, confined to `root`, and another directory, if `root` is not `nil`.
    func confined(to root: String?, and other: String? = nil) -> FileIO {
        guard let root else { return self }
        return FileIO(fileSystem.confined(to: [root, other].compactMap { $0.map { FilePath($0) } }), threads: threads)
    }

    /// Access to the whole file system, for code that has access to a confined one.
    func fileSystem(_ disk: Disk) -> any FileSystem { fileSystem }

    /// Runs `body` on a file thread. A cancelled task waits for it as well.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (Disk) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            threads.run { [fileSystem] in
                do throws(Failure) {
                    continuation.resume(returning: .success(try body(Disk(fileSystem))))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Closes a file on a file thread, without waiting.
    func close(_ file: any File) { threads.run { file.close() } }

    /// Runs `body` on file threads, between its suspensions too. The caller must not be isolated to an actor.
    package func stay<Value, Failure: Error>(
        _ body: (Disk) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(threads) { () async throws(Failure) -> Value in
            try await body(Disk(fileSystem))
        }
    }
}

/// Access to the file system, which code on a file thread has for as long as it stays there.
package struct Disk {
    package let fileSystem: any FileSystem

    fileprivate init(_ fileSystem: any FileSystem) { self.fileSystem = fileSystem }

    /// The file system, confined to `root`, and another directory, if `root` is not `nil`.
    package func fileSystem(within root: String?, and other: String? = nil) -> any FileSystem {
        guard let root else { return fileSystem }
        return fileSystem.confined(to: [root, other].compactMap { $0.map { FilePath($0) } })
    }
}

@available(*, unavailable)
extension Disk: Sendable {}
