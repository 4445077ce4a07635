/// Keeps secrets while their downloads need them: ``SecretMemory`` or, on the disk, ``SecretStore``.
package protocol SecretVault: Sendable {
    /// Keeps these, durable when it returns; secrets that are empty are removed.
    func keep(_ secrets: [DownloadID: Secrets]) async throws(DownloadError)

    /// The secrets of a download; `nil` when there are none.
    func secrets(of id: DownloadID) async throws(DownloadError) -> Secrets?

    /// Forgets these; what is not there is no error.
    func remove(_ ids: [DownloadID]) async

    /// Forgets all but these: what a crash left.
    func sweep(keeping ids: Set<DownloadID>) async
}
