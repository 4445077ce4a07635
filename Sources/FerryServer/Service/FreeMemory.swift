import CFerry
import Ferry
import FerryMetrics

/// Gives the free pages of the allocator back to the system after the process has grown.
///
/// glibc keeps what is freed between pieces in use: after a burst of work a daemon that used 7 MB held 100 MB more.
struct FreeMemory {
    /// The growth, in bytes, after which pages are given back.
    static let step = Double(16 << 20)

    /// Returns the resident memory in bytes, if the system tells.
    private let resident: @Sendable () -> Double?
    private let giveBack: @Sendable () -> Void
    private var least = Double.infinity

    init(
        resident: @escaping @Sendable () -> Double? = { ProcessReading.now().residentBytes },
        giveBack: @escaping @Sendable () -> Void = { ferry_return_free_memory() }
    ) {
        self.resident = resident
        self.giveBack = giveBack
    }

    /// Gives pages back if the process has grown by ``step`` since it was smallest, or since the last time.
    mutating func look() async {
        guard let now = await onFileThread({ [resident] in resident() }) else { return }
        guard now > least + Self.step else {
            least = min(least, now)
            return
        }
        let left = await onFileThread { [resident, giveBack] in
            giveBack()
            return resident()
        }
        least = left ?? now
    }
}
