import Dispatch

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// Asks the system's resolver about a name, away from event loops and Swift's pool: it blocks.
enum HostLookup {
    /// Whether the resolver says that this name does not exist or has no address, rather than that it cannot tell now.
    static func isMissing(_ host: String) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: isLasting(lookUp(host))) }
        }
    }

    private static func lookUp(_ host: String) -> CInt {
        var result: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, nil, &result)
        if let result { freeaddrinfo(result) }
        return code
    }

    /// Whether a code of `getaddrinfo` stays the same when asked again.
    static func isLasting(_ code: CInt) -> Bool {
        code == EAI_NONAME || hiddenLastingCodes.contains(code)
    }
}
