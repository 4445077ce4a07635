import CFerry
package import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// Queries the system's resolver. Blocks.
package enum HostLookup {
    /// Resolves a name.
    package static func lookUp(_ host: String) -> NameMemory.Answer {
        var hints = addrinfo()
        // With a socket type, each address is returned only once.
        hints.ai_socktype = ferry_SOCK_STREAM
        var result: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &result)
        guard code == 0 else { return isLasting(code) ? .missing : .failed }
        defer { if let result { freeaddrinfo(result) } }
        var found: [IPAddress] = []
        var next = result
        while let entry = next {
            if let bytes = addressBytes(entry.pointee), let address = IPAddress(bytes: bytes) { found.append(address) }
            next = entry.pointee.ai_next
        }
        return found.isEmpty ? .missing : .addresses(found)
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

    /// Returns whether a retry would give the same `getaddrinfo` code.
    static func isLasting(_ code: CInt) -> Bool {
        code == EAI_NONAME || hiddenLastingCodes.contains(code)
    }
}
