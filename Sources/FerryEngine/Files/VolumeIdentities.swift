import Synchronization

/// The numbers by which Ferry names volumes, where the system numbers devices anew at each start.
///
/// A journal names the device of its part file. With a number that is another one after a restart, every part file would
/// seem to be a copy of itself, and its claims doubtful.
package final class VolumeIdentities: Sendable {
    private let known = Mutex<[UInt64: UInt64]>([:])
    private let lookUp: @Sendable (UInt64) -> [UInt8]?

    /// - Parameter lookUp: Returns the UUID of the volume with this device number; `nil` if it has none. Called once for each
    ///   number.
    package init(lookUp: @escaping @Sendable (UInt64) -> [UInt8]?) { self.lookUp = lookUp }

    /// Returns the number of a volume: of its UUID, else that of the device. That of a UUID has more than 32 bits, as no number
    /// of a device has, and at most 63, so that other programs can read it.
    package func identity(ofDevice device: UInt64) -> UInt64 {
        if let identity = known.withLock({ $0[device] }) { return identity }
        let uuid = lookUp(device) ?? []
        var identity = device
        if uuid.count == 16, uuid.contains(where: { $0 != 0 }) {
            identity = 0
            for (index, byte) in uuid.enumerated() { identity ^= UInt64(byte) << (8 * UInt64(index % 8)) }
            identity = identity & (1 << 62 - 1) | 1 << 62
        }
        known.withLock { $0[device] = identity }
        return identity
    }

    /// Returns the number of the volume that a record names. An earlier version recorded the device's number: then it is the
    /// volume that has this number now, so that such a record counts as long as it did.
    package func identity(recordedAs number: UInt64) -> UInt64 {
        number <= UInt32.max ? identity(ofDevice: number) : number
    }
}
