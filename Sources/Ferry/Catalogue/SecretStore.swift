import Dispatch
import FerryCore
package import FerryEngine
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Keeps secrets on disk, one file of mode 0600 for each download in a directory of mode 0700.
///
/// A file is written under a draft name, synced and renamed, so that it always has either the old or the new content. Callers
/// suspend without blocking their threads.
package final class SecretStore: SecretVault {
    private let directory: FilePath
    private let fileSystem: any FileSystem
    private let queue = DispatchQueue(label: "Ferry.SecretStore", qos: .userInitiated)

    /// `directory` is the absolute path of a directory that is used only for secrets. The directory is created when the first
    /// secret is stored.
    // allow(single-place): the secrets have a queue of their own.
    package init(directory: String, fileSystem: any FileSystem = LocalFileSystem()) {
        self.directory = FilePath(directory)
        self.fileSystem = fileSystem
    }

    package func keep(_ secrets: [DownloadID: Secrets]) async throws(DownloadError) {
        guard !secrets.isEmpty else { return }
        let result: Result<Void, DownloadError> = await run { [self] in
            do {
                try prepare()
                for (id, value) in secrets {
                    if value.isEmpty { try fileSystem.removeIfPresent(path(id)) } else { try write(value, of: id) }
                }
                try fileSystem.syncDirectoryIfSupported(directory)
                return .success(())
            } catch {
                return .failure(Self.failure(error, ErrorPhrase(.secretsUnwritten)))
            }
        }
        try result.get()
    }

    package func secrets(of id: DownloadID) async throws(DownloadError) -> Secrets? {
        let result: Result<Secrets?, DownloadError> = await run { [self] in
            do {
                return .success(try read(id))
            } catch {
                return .failure(Self.failure(error, ErrorPhrase(.secretsUnread, "\(id)")))
            }
        }
        return try result.get()
    }

    package func remove(_ ids: [DownloadID]) async {
        await run { [self] in
            for id in ids { try? fileSystem.removeIfPresent(path(id)) }
            _ = try? fileSystem.syncDirectoryIfSupported(directory)
        }
    }

    package func sweep(keeping ids: Set<DownloadID>) async {
        await run { [self] in
            let kept = Set(ids.map(SecretFileName.make))
            for name in (try? fileSystem.list(directory)) ?? [] where SecretFileName.isOurs(name) {
                if !kept.contains(name) { try? fileSystem.removeIfPresent(directory.appending(name)) }
            }
        }
    }

    // MARK: On the queue

    private func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }

    private func path(_ id: DownloadID) -> FilePath { directory.appending(SecretFileName.make(id)) }

    private func prepare() throws {
        let place = PrivateDirectory(path: directory, fileSystem: fileSystem)
        try place.prepare()
        try place.close()
    }

    private func write(_ secrets: Secrets, of id: DownloadID) throws {
        let data = try SecretText.data(secrets, of: id)
        let draft = directory.appending(SecretFileName.make(id) + SecretFileName.draftSuffix)
        try fileSystem.removeIfPresent(draft)
        let file = try fileSystem.create(draft, mode: 0o600)
        defer { file.close() }
        try file.write(Array(data), at: 0)
        try file.sync()
        try fileSystem.rename(draft, to: path(id), replacing: true)
    }

    private func read(_ id: DownloadID) throws -> Secrets? {
        let path = path(id)
        guard try fileSystem.exists(path) else { return nil }
        let file = try fileSystem.open(path, .readOnly)
        defer { file.close() }
        let length = try file.status().length
        guard length <= ByteCount(SecretText.maxBytes) else { throw SecretText.Unreadable.tooLong }
        // Two long identifiers may have the same hash.
        return try SecretText.secrets(of: id, in: Data(try file.read(0..<length)))
    }

    /// An error that never includes the contents of a file.
    private static func failure(_ error: any Error, _ message: ErrorPhrase) -> DownloadError {
        guard let error = error as? FileError else { return SecretText.unreadable(message) }
        return DownloadError(error.kind == .noSpace ? .diskFull : .disk, message, underlying: error.message)
    }
}

/// The storage of secrets while their downloads need them: ``SecretMemory``, ``SecretStore`` on disk, or ``StoredSecrets`` for
/// a storage of the app.
package protocol SecretVault: Sendable {
    /// Stores secrets, which are durable on return. Empty secrets are removed.
    func keep(_ secrets: [DownloadID: Secrets]) async throws(DownloadError)

    /// The secrets of a download; `nil` if there are none.
    func secrets(of id: DownloadID) async throws(DownloadError) -> Secrets?

    /// Removes secrets; missing secrets are not an error.
    func remove(_ ids: [DownloadID]) async

    /// Removes the secrets of all downloads except `ids`; for example, secrets that were left after a crash.
    func sweep(keeping ids: Set<DownloadID>) async
}

/// Keeps secrets for the lifetime of the manager.
package final class SecretMemory: SecretVault {
    private let secrets = Mutex<[DownloadID: Secrets]>([:])

    package init() {}

    package func keep(_ new: [DownloadID: Secrets]) async throws(DownloadError) {
        secrets.withLock { secrets in
            for (id, value) in new { secrets[id] = value.isEmpty ? nil : value }
        }
    }

    package func secrets(of id: DownloadID) async throws(DownloadError) -> Secrets? { secrets.withLock { $0[id] } }

    package func remove(_ ids: [DownloadID]) async {
        secrets.withLock { secrets in
            for id in ids { secrets[id] = nil }
        }
    }

    package func sweep(keeping ids: Set<DownloadID>) async {
        secrets.withLock { secrets in secrets = secrets.filter { ids.contains($0.key) } }
    }
}

/// The name of the file with a download's secrets.
enum SecretFileName {
    /// The suffix of a file that is being written.
    static let draftSuffix = ReservedName.draft.text

    /// A name that is valid and unique on every file system, including case-insensitive ones. Keeps lower-case letters, digits,
    /// `-` and `_`, and encodes other bytes as `%xx`. An empty or too long name becomes `~` and a hash.
    static func make(_ id: DownloadID) -> String {
        var name: [UInt8] = []
        for byte in id.rawValue.utf8 {
            if isPlain(byte) {
                name.append(byte)
            } else {
                name += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        guard !name.isEmpty, name.count <= 200 else {
            return "~" + hash(id, 0xcbf2_9ce4_8422_2325) + hash(id, 0x9ae1_6a3b_2f90_404f)
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// Whether the name has the form of ``make(_:)`` or of a draft of it.
    static func isOurs(_ name: String) -> Bool {
        let stem = name.dropping(suffix: draftSuffix) ?? name[...]
        return !stem.isEmpty
            && stem.utf8.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "~") }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { Array("0123456789abcdef".utf8)[Int(value)] }

    /// FNV-1a, 64 bits, as 16 hexadecimal digits.
    private static func hash(_ id: DownloadID, _ seed: UInt64) -> String {
        var value = seed
        for byte in id.rawValue.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
