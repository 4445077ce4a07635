#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Where the secrets of unfinished downloads are stored in place of Ferry's files: passwords, cookies, secret headers.
///
/// On Apple's systems `KeychainSecrets` is one. Ferry stores one value for each download that has secrets, and removes it when the
/// download has ended. A key consists of the identifier of the list, `/` and that of the download. The calls of one manager
/// for one key come one after another; those for others come from any task.
///
/// ```swift
/// var configuration = DownloadManager.Configuration.default(identifier: "com.example.app", directory: folder)
/// configuration.secretStorage = VaultOfTheApp()
/// ```
public protocol SecretStorage: Sendable {
    /// Stores a value, durable on return, in place of an earlier one.
    func store(_ value: Data, for key: String) async throws

    /// The value of a key; `nil` if there is none. An error makes the download fail or wait, and its bytes are kept.
    func value(for key: String) async throws -> Data?

    /// Removes the value of a key; a missing one is no error.
    func removeValue(for key: String) async throws

    /// All keys that begin with `prefix`.
    func keys(withPrefix prefix: String) async throws -> [String]
}
