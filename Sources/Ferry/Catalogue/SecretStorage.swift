#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Storage for the secrets of unfinished downloads (passwords, cookies, secret headers), used in place of Ferry's files.
///
/// On Apple platforms, `KeychainSecrets` conforms to this protocol. Ferry stores one value for each download that has secrets, and
/// removes it when the download has ended. A key consists of the identifier of the list, `/` and the identifier of the download. A
/// manager's calls for the same key are serialized; calls for different keys may be concurrent.
///
/// ```swift
/// var configuration = DownloadManager.Configuration.default(identifier: "com.example.app", directory: folder)
/// configuration.secretStorage = VaultOfTheApp()
/// ```
public protocol SecretStorage: Sendable {
    /// Stores a value, replacing any earlier value for the key. The value must be durable when the method returns.
    func store(_ value: Data, for key: String) async throws

    /// The value of a key; `nil` if there is none. If the method throws, the download fails or waits, and keeps the bytes received
    /// so far.
    func value(for key: String) async throws -> Data?

    /// Removes the value of a key; a missing value is not an error.
    func removeValue(for key: String) async throws

    /// All keys that begin with `prefix`.
    func keys(withPrefix prefix: String) async throws -> [String]
}
