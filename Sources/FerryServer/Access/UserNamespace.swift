import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The numbers of users in this process's user namespace (user_namespaces(7)).
package enum UserNamespace {
    /// The number that the system reports for every user without one here, from the texts of `/proc/self/uid_map` and `/proc/sys/kernel/overflowuid`; `nil` if every user has one.
    package static func unmapped(map: String?, overflow: String?) -> UInt32? {
        let counts = (map ?? "").split(at: "\n").compactMap { line in
            line.split(at: " ").last.flatMap { UInt32($0.trimmedText) }.map(UInt64.init)
        }
        // All numbers but the highest, which is none.
        guard counts.reduce(0, &+) < UInt64(UInt32.max) else { return nil }
        return overflow.flatMap { UInt32($0.trimmedText) } ?? 65_534
    }
}

/// The accounts that the system's libraries know. Blocks.
package struct SystemAccounts: UserAccounts {
    package init() {}

    package func number(of name: String) -> UInt32? {
        Self.record {
            getpwnam_r(name, $0, $1, $2, $3)
        } read: {
            $0.pw_uid
        }
    }

    package func name(of number: UInt32) -> String? {
        Self.record {
            getpwuid_r(number, $0, $1, $2, $3)
        } read: {
            $0.pw_name.map { String(cString: $0) }
        } ?? nil
    }

    private static func record<Value>(
        _ find: (
            UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> Int32, read: (passwd) -> Value
    ) -> Value? {
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64 << 10) { buffer in
            guard let start = buffer.baseAddress, find(&record, start, buffer.count, &found) == 0, found != nil else {
                return nil
            }
            return read(record)
        }
    }
}

/// A text that the system has, such as a file of proc(5). Blocks.
enum SystemText {
    /// `nil` if the file cannot be read, is larger than 16 MiB or not UTF-8.
    static func read(_ path: String) -> String? {
        SocketTable.read(path).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
