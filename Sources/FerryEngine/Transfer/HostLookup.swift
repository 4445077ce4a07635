import Dispatch
package import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// Queries the system's resolver on a Dispatch queue, because it blocks.
package enum HostLookup {
    /// Returns whether the name does not exist or has no address, as opposed to a temporary resolver failure.
    static func isMissing(_ host: String) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: isLasting(lookUp(host))) }
        }
    }

    /// Returns the addresses of a name; empty if it has none or the resolver fails.
    package static func addresses(of host: String) async -> [IPAddress] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var result: UnsafeMutablePointer<addrinfo>?
                var found: [IPAddress] = []
                if getaddrinfo(host, nil, nil, &result) == 0 {
                    var next = result
                    while let entry = next {
                        if let bytes = addressBytes(entry.pointee), let address = IPAddress(bytes: bytes) {
                            found.append(address)
                        }
                        next = entry.pointee.ai_next
                    }
                }
                if let result { freeaddrinfo(result) }
                continuation.resume(returning: found)
            }
        }
    }

    private static func addressBytes(_ entry: addrinfo) -> [UInt8]? {
        guard let address = entry.ai_addr else { return nil }
        let bytes = UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen))
        // The offsets of the address in `struct sockaddr_in` and `sockaddr_in6`, the same on all platforms.
        return switch entry.ai_family {
        case AF_INET: Array(bytes[4..<8])
        case AF_INET6: Array(bytes[8..<24])
        default: nil
        }
    }

    private static func lookUp(_ host: String) -> CInt {
        var result: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, nil, &result)
        if let result { freeaddrinfo(result) }
        return code
    }

    /// Returns whether a retry would give the same `getaddrinfo` code.
    static func isLasting(_ code: CInt) -> Bool {
        code == EAI_NONAME || hiddenLastingCodes.contains(code)
    }
}
