import Foundation

/// The working directory of this process.
package enum WorkingDirectory {
    /// The absolute path; empty if the directory has been deleted, so that relative paths stay relative and fail.
    package static var path: String {
        guard let bytes = getcwd(nil, 0) else { return "" }
        defer { free(bytes) }
        // The kernel marks a directory outside of this process's root.
        return bytes.pointee == UInt8(ascii: "/") ? String(cString: bytes) : ""
    }
}
