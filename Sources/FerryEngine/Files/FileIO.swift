import SystemPackage

/// The only access to the file system: blocking calls are made only on ``FileThreads``.
///
/// File calls need a ``Disk`` value, which only file threads have, so no file call can block an event loop, an actor or Swift's
/// thread pool.
package struct FileIO: Sendable {
    private let fileSystem: any FileSystem
    private let threads: FileThreads

    package init(_ fileSystem: any FileSystem, threads: FileThreads = .shared) {
        self.fileSystem = fileSystem
        self.threads = threads
    }

    /// The executor of ``stay(_:)``, for a task that starts with it.
    package var executor: any TaskExecutor { threads }

    /// Returns the same access, confined to `root` and another directory if `root` is not `nil`.
    func confined(to root: String?, and other: String? = nil) -> FileIO {
        guard let root else { return self }
        return FileIO(fileSystem.confined(to: [root, other].compactMap { $0.map { FilePath($0) } }), threads: threads)
    }

    /// Returns access to the whole file system, for code that has access to a confined one.
    func fileSystem(_ disk: Disk) -> any FileSystem { fileSystem }

    /// Runs `body` on a file thread. Even a cancelled task waits for its end.
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

    /// Runs `body` on file threads, including its continuations after suspensions. The caller must not be isolated to an actor.
    package func stay<Value, Failure: Error>(
        _ body: (Disk) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(threads) { () async throws(Failure) -> Value in
            try await body(Disk(fileSystem))
        }
    }
}

/// Access to the file system for code on a file thread, valid as long as it stays there.
package struct Disk {
    package let fileSystem: any FileSystem

    fileprivate init(_ fileSystem: any FileSystem) { self.fileSystem = fileSystem }

    /// Returns the access that opens its roots once, for the calls of a moment; see ``FileSystem/holdingRoots()``.
    func holdingRoots() -> Disk { Disk(fileSystem.holdingRoots()) }

    /// Returns the file system, confined to `root` and another directory if `root` is not `nil`.
    package func fileSystem(within root: String?, and other: String? = nil) -> any FileSystem {
        guard let root else { return fileSystem }
        return fileSystem.confined(to: [root, other].compactMap { $0.map { FilePath($0) } })
    }
}

@available(*, unavailable)
extension Disk: Sendable {}
