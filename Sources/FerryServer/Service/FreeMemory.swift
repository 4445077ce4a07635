import CFerry
import Ferry
import FerryMetrics

/// Gives the free pages of the allocator back to the system after the process has grown.
///
/// glibc keeps what is freed between pieces in use: after a burst of work a daemon that used 7 MB held 100 MB more. Pages that
/// are given back during the burst are few, so they are given back again as long as there is work.
struct FreeMemory {
    /// How much larger than it was at its smallest, in bytes, a process gives pages back.
    static let step = Double(16 << 20)

    /// Returns the resident memory in bytes, if the system tells.
    private let resident: @Sendable () -> Double?
    private let giveBack: @Sendable () -> Void
    private var least = Double.infinity
    /// What the process had after it last gave pages back.
    private var left = 0.0

    init(
        resident: @escaping @Sendable () -> Double? = { ProcessReading.now().residentBytes },
        giveBack: @escaping @Sendable () -> Void = { ferry_return_free_memory() }
    ) {
        self.resident = resident
        self.giveBack = giveBack
    }

    /// Gives pages back if the process is larger by ``step`` than it was at its smallest, and has not rested since the last time.
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
