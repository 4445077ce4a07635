import CFerry
import Ferry
import FerryMetrics

/// Returns the allocator's free pages to the system after the process has grown.
///
/// glibc keeps freed memory between blocks in use: after a burst of work, a daemon that had used 7 MB still occupied 100 MB more.
/// Few pages can be returned during the burst, so pages are returned repeatedly while there is work.
struct FreeMemory {
    /// The growth over the smallest resident size, in bytes, beyond which pages are returned.
    static let step = Double(16 << 20)

    /// Returns the resident memory in bytes; `nil` if the system does not report it.
    private let resident: @Sendable () -> Double?
    private let giveBack: @Sendable () -> Void
    private var least = Double.infinity
    /// The resident memory in bytes after pages were last returned.
    private var left = 0.0

    init(
        resident: @escaping @Sendable () -> Double? = { ProcessReading.now().residentBytes },
        giveBack: @escaping @Sendable () -> Void = { ferry_return_free_memory() }
    ) {
        self.resident = resident
        self.giveBack = giveBack
    }

    /// Returns pages if the process has grown by more than ``step`` over its smallest size, and its size has changed since the last
    /// time.
    mutating func look() async {
        guard let now = await onFileThread({ [resident] in resident() }) else { return }
        least = min(least, now)
        guard now > least + Self.step, now != left else { return }
        left =
            await onFileThread { [resident, giveBack] in
                giveBack()
                return resident()
            } ?? now
    }
}
