import Synchronization

@testable import FerryEngine

/// Keeps part files alive, and with them their locks.
final class PartFileHolder: Sendable {
    let parts = Mutex<[PartFile]>([])
}

/// The names that are held; entering a held name gives `false`.
final class Owners: Sendable {
    private let names = Mutex<Set<String>>([])
    func enter(_ name: String) -> Bool { names.withLock { $0.insert(name).inserted } }
    func leave(_ name: String) { _ = names.withLock { $0.remove(name) } }
}
