import Synchronization

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
