import Synchronization

@testable import Ferry

/// A vault that holds its first call of one kind until a test releases it, and passes all others on.
///
/// The held caller has taken its locks, which nothing else shows: order without sleeping.
final class HeldVault: SecretVault {
    enum Call: Sendable { case read, remove }

    private let base: any SecretVault
    private let held: Call
    private let isFirst = Mutex(true)
    private let came = Door()
    private let door = Door()

    init(_ base: any SecretVault, holding held: Call) {
        self.base = base
        self.held = held
    }

    /// Replaces the vault of a manager with a held one; the list must be open.
    static func hold(_ call: Call, in scheduler: Scheduler) -> HeldVault {
        let storage = scheduler.storage
        let vault = HeldVault(storage.vault, holding: call)
        if let store = storage.store { storage.open(store, vault, storage.ledger) }
        return vault
    }

    /// Waits until the held call has arrived.
    func arrived() async { await came.pass() }
    /// Releases the held call.
    func open() { door.open() }

    private func pass(_ call: Call) async {
        let isHeld = isFirst.withLock { isFirst in
            guard isFirst, call == held else { return false }
            isFirst = false
            return true
        }
        guard isHeld else { return }
        came.open()
        await door.pass()
    }

    func keep(_ secrets: [DownloadID: Secrets]) async throws(DownloadError) { try await base.keep(secrets) }

    func secrets(of id: DownloadID) async throws(DownloadError) -> Secrets? {
        await pass(.read)
        return try await base.secrets(of: id)
    }

    func remove(_ ids: [DownloadID]) async {
        await pass(.remove)
        await base.remove(ids)
    }

    func sweep(keeping ids: Set<DownloadID>) async { await base.sweep(keeping: ids) }
}
