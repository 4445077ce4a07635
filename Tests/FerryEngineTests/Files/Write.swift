import Foundation
import Synchronization

@testable import FerryEngine

/// One write on a thread of its own.
final class Write: Sendable {
    private let done = Atomic<Bool>(false)
    private let end = DispatchSemaphore(value: 0)

    init(_ bytes: [UInt8], to file: any File) {
        Thread { [self] in
            try? file.write(bytes, at: 0)
            done.store(true, ordering: .sequentiallyConsistent)
            end.signal()
        }.start()
    }

    var isDone: Bool { done.load(ordering: .sequentiallyConsistent) }

    func wait() { end.wait() }
}
