package import FerryCore
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A small HTML document that leads a browser to the page, signed in.
///
/// The arguments of a program are for everybody on the machine to read, and so would be a code in the address that an opener
/// of addresses is given. The opener gets the path of this file instead: it has mode 0600, in a directory of mode 0700, and
/// goes with its code.
package struct SignInFile: Sendable, Hashable {
    package let path: String

    /// Writes one for a page at this address, into a directory that is made when it is missing.
    package static func make(leadingTo address: String, in directory: String) throws(DownloadError) -> SignInFile {
        try PrivateFile.makeDirectory(directory)
        let file = SignInFile(path: directory + "/" + RandomText.hex(bytes: 8) + ending)
        try PrivateFile.write(document(leadingTo: address), to: file.path)
        return file
    }

    package func remove() { unlink(path) }

    /// Removes what a daemon left behind that was killed; its codes are gone with it.
    package static func sweep(_ directory: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        where name.utf8.hasSuffix(ending) {
            unlink(directory + "/" + name)
        }
    }

    private static let ending = ".html"

    /// The address holds nothing but loopback, a port and hexadecimal digits: there is nothing to escape.
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
