/// The storage of secrets while their downloads need them: ``SecretMemory`` or, on disk, ``SecretStore``.
package protocol SecretVault: Sendable {
    /// Stores secrets, durable on return; empty secrets are removed.
    func keep(_ secrets: [DownloadID: Secrets]) async throws(DownloadError)

    /// The secrets of a download; `nil` if there are none.
    func secrets(of id: DownloadID) async throws(DownloadError) -> Secrets?

    /// Removes secrets; missing ones are no error.
    func remove(_ ids: [DownloadID]) async

    /// Removes all secrets except those of `ids`, such as those left by a crash.
    func sweep(keeping ids: Set<DownloadID>) async
}
