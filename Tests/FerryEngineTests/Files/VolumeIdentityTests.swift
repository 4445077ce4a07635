import FerryCore
import Synchronization
import Testing

@testable import FerryEngine

@Suite("Identities of volumes")
struct VolumeIdentityTests {
    private static let uuid: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]

    @Test("Volume: the identity is that of the UUID, whatever the device's number is after a restart")
    func restart() {
        let before = VolumeIdentities { $0 == 16_777_220 ? Self.uuid : nil }
        let after = VolumeIdentities { $0 == 16_777_229 ? Self.uuid : nil }
        let identity = before.identity(ofDevice: 16_777_220)
        #expect(identity == after.identity(ofDevice: 16_777_229))
        #expect(identity != 16_777_220)
        let other = VolumeIdentities { _ in [99] + Self.uuid.dropFirst() }
        #expect(other.identity(ofDevice: 16_777_220) != identity)
    }

    @Test(
        "Volume: without a usable UUID the identity is the device's number",
        arguments: [nil, [], [1], [UInt8](repeating: 0, count: 16)])
    func none(uuid: [UInt8]?) {
        #expect(VolumeIdentities { _ in uuid }.identity(ofDevice: 7) == 7)
    }

    @Test("Volume: the UUID is looked up once for each device")
    func once() {
        let calls = Mutex(0)
        let volumes = VolumeIdentities { _ in
            calls.withLock { $0 += 1 }
            return Self.uuid
        }
        for _ in 0..<3 { _ = volumes.identity(ofDevice: 7) }
        #expect(calls.withLock { $0 } == 1)
    }

    @Test("Volume: a device's number in an older record names the volume that has it now; an identity names itself")
    func recorded() {
        let volumes = VolumeIdentities { $0 == 16_777_220 ? Self.uuid : nil }
        let identity = volumes.identity(ofDevice: 16_777_220)
        #expect(identity > UInt64(UInt32.max) && identity <= UInt64(Int64.max))
        #expect(volumes.identity(recordedAs: 16_777_220) == identity)
        #expect(volumes.identity(recordedAs: identity) == identity)
        #expect(volumes.identity(recordedAs: 3) == 3)
    }

    @Test("Volume: all files of a journal that an older version wrote are named by their volumes")
    func journal() {
        var record = testRecord()
        record.partDevice = 5
        record.publishing = .init(name: "a", device: 6, inode: 1, length: 2)
        record.moving = .init(part: "/b/a.part", device: 7, inode: 1)
        record.nameVolumes { $0 + 100 }
        #expect(record.partDevice == 105)
        #expect(record.publishing?.device == 106 && record.moving?.device == 107)
        record.moving = .init(part: "/b/a.part", device: nil, inode: 1)
        record.nameVolumes { $0 + 100 }
        #expect(record.moving?.device == nil)
    }
}
