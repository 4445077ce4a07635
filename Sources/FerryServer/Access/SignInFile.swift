package import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A small HTML document that opens the page in a browser, signed in.
///
/// All users can read a process's arguments, and thus the sign-in code in an address passed to a URL opener. The
/// opener gets the path of this file instead. The file has mode 0600, in a directory of mode 0700, and is removed
/// with its code.
package struct SignInFile: Sendable, Hashable {
    package let path: String

    /// Writes a file for a page at this address, creating the directory if necessary.
    package static func make(leadingTo address: String, in directory: String) throws(DownloadError) -> SignInFile {
        try PrivateFile.makeDirectory(directory)
        let file = SignInFile(path: directory + "/" + RandomText.hex(bytes: 8) + ending)
        try PrivateFile(file.path, most: 1 << 16).write(document(leadingTo: address))
        return file
    }

    package func remove() { unlink(path) }

    /// Removes files that a killed daemon left behind, whose codes are no longer valid.
    package static func sweep(_ directory: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        where name.utf8.hasSuffix(ending) {
            unlink(directory + "/" + name)
        }
    }

    private static let ending = ".html"

    /// The address consists of a loopback host, a port and hexadecimal digits, so it needs no escaping.
    private static func document(leadingTo address: String) -> String {
        """
        <!doctype html>
        <meta charset="utf-8">
        <meta name="referrer" content="no-referrer">
        <meta http-equiv="refresh" content="0; url=\(address)">
        <title>Ferry</title>
        <a href="\(address)">Ferry</a>

        """
    }
}
