import Synchronization

@testable import Ferry

/// A vault that holds its first call of one kind up until a test lets it go on; the others go through.
///
/// Who is held up has taken its turns, and nothing else tells of that: order without sleeping.
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

    /// Puts one in front of a manager's own, once that is open.
    static func hold(_ call: Call, in scheduler: Scheduler) -> HeldVault {
        let vault = HeldVault(scheduler.state.withLock { $0.vault }, holding: call)
        scheduler.state.withLock { $0.vault = vault }
        return vault
    }

    /// Waits until the call has come.
    func arrived() async { await came.pass() }
    /// Lets it go on.
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
