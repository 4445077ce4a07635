import Synchronization

/// The numbers by which Ferry identifies volumes on systems that renumber devices at each start.
///
/// A journal records the volume of its part file. If that number changed at a restart, every part file would look like a copy of
/// itself, and its claims would be doubtful.
package final class VolumeIdentities: Sendable {
    private let known = Mutex<[UInt64: UInt64]>([:])
    private let lookUp: @Sendable (UInt64) -> [UInt8]?

    /// - Parameter lookUp: Returns the UUID of the volume with this device number; `nil` if it has none. Called once for each
    ///   number.
    package init(lookUp: @escaping @Sendable (UInt64) -> [UInt8]?) { self.lookUp = lookUp }

    /// Returns the number of a volume, derived from its UUID or, if it has none, from the device. A number derived from a UUID
    /// has more than 32 bits, so that it differs from every device number, and at most 63, so that other programs can read it.
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

    /// Returns the number of the volume in a record. Earlier versions recorded the device number; such a record refers
    /// to the volume that has this device number now.
    package func identity(recordedAs number: UInt64) -> UInt64 {
        number <= UInt32.max ? identity(ofDevice: number) : number
    }
}
