#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Wakes a thread that waits in poll(2), from any thread.
///
/// Both descriptors stay open as long as the object exists, so a wake-up after the end of the thread cannot write to another file
/// that has received the number of a closed descriptor.
package final class WakePipe: Sendable {
    /// A descriptor for poll(2), which is readable after ``wake()`` until ``drain()``.
    package let reading: Int32
    private let writing: Int32

    package init() throws(Spawning.Failure) { (reading, writing) = try Spawning.pipe(blocks: false) }

    deinit {
        close(reading)
        close(writing)
    }

    package func wake() {
        // A full pipe already wakes the thread.
        var byte: UInt8 = 0
        _ = write(writing, &byte, 1)
    }

    /// Discards all wake-ups so far; called by the waiting thread.
    package func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(reading, &bytes, bytes.count) > 0 {}
    }
}
