import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The accounts that the system's libraries look up. Blocks.
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

/// Text files of the system, such as those of proc(5). Blocks.
enum SystemText {
    /// Returns the text of a file; `nil` if the file cannot be read, is larger than 16 MiB, or is not UTF-8.
    static func read(_ path: String) -> String? {
        SocketTable.read(path).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
