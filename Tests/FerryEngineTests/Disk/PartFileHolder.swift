import Synchronization

@testable import FerryEngine

/// Keeps part files alive, and with them their locks.
final class PartFileHolder: Sendable {
    let parts = Mutex<[PartFile]>([])
}

/// Who holds which name; entering one that is held gives `false`.
final class Owners: Sendable {
    private let names = Mutex<Set<String>>([])
    func enter(_ name: String) -> Bool { names.withLock { $0.insert(name).inserted } }
    func leave(_ name: String) { _ = names.withLock { $0.remove(name) } }
}
