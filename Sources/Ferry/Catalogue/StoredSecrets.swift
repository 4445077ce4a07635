import FerryCore

/// Keeps secrets in the app's storage. Secrets that an earlier process stored in files are moved there when they are needed.
final class StoredSecrets: SecretVault {
    private let storage: any SecretStorage
    private let prefix: String
    private let files: SecretStore

    /// - Parameters:
    ///   - identifier: The name of the list, which contains no `/`; several lists may share a storage.
    ///   - files: The files that were used before the app set a storage.
    init(_ storage: any SecretStorage, list identifier: String, files: SecretStore) {
        self.storage = storage
        self.files = files
        prefix = identifier + "/"
    }

    private func key(_ id: DownloadID) -> String { prefix + id.rawValue }

    func keep(_ secrets: [DownloadID: Secrets]) async throws(DownloadError) {
        do {
            for (id, value) in secrets {
                if value.isEmpty {
                    try await storage.removeValue(for: key(id))
                } else {
                    try await storage.store(SecretText.data(value, of: id), for: key(id))
                }
            }
        } catch { throw Self.failure(error, ErrorPhrase(.secretsUnwritten)) }
        await files.remove(Array(secrets.keys))
    }

    func secrets(of id: DownloadID) async throws(DownloadError) -> Secrets? {
        do {
            if let value = try await storage.value(for: key(id)) { return try SecretText.secrets(of: id, in: value) }
        } catch { throw Self.failure(error, ErrorPhrase(.secretsUnread, "\(id)")) }
        guard let old = try await files.secrets(of: id) else { return nil }
        // If this fails, the secrets remain in their file until they are needed again.
        try? await keep([id: old])
        return old
    }

    func remove(_ ids: [DownloadID]) async {
        for id in ids { try? await storage.removeValue(for: key(id)) }
        await files.remove(ids)
    }

    func sweep(keeping ids: Set<DownloadID>) async {
        let kept = Set(ids.map(key))
        for key in (try? await storage.keys(withPrefix: prefix)) ?? []
        where key.utf8.hasPrefix(prefix) && !kept.contains(key) {
            try? await storage.removeValue(for: key)
        }
        await files.sweep(keeping: ids)
    }

    /// An error of the storage. Only its type is reported, because its description comes from the app and may contain the
    /// secret.
    private static func failure(_ error: any Error, _ message: ErrorPhrase) -> DownloadError {
        if error is SecretText.Unreadable || error is DecodingError || error is EncodingError {
            return SecretText.unreadable(message)
        }
        return DownloadError(.disk, message, underlying: "\(type(of: error))")
    }
}
