import Testing

@testable import Ferry

@Suite("Netmasks")
struct NetmaskTests {
    @Test("Netmask: trimmed, without a family, empty or followed by other bytes, it has the bits of its address alone")
    func trimmed() throws {
        let four = try #require(NetworkAddress("192.168.1.7"))
        // Length, family, port, and three of four bytes of 255.255.255.0.
        #expect(four.prefixLength(ofMask: [7, 0, 0, 0, 255, 255, 255]) == 24)
        let whole: [UInt8] = [16, 2, 0, 0, 255, 255, 240, 0]
        #expect(four.prefixLength(ofMask: whole + [UInt8](repeating: 255, count: 8)) == 20)
        #expect(four.prefixLength(ofMask: []) == 0)
        let six = try #require(NetworkAddress("2001:db8::1"))
        #expect(six.prefixLength(ofMask: [16, 30, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 255, count: 8)) == 64)
        #expect(six.prefixLength(ofMask: [UInt8](repeating: 255, count: 28)) == 128)
        #expect(six.prefixLength(ofMask: [4, 0, 255, 255]) == 0)
    }
}
