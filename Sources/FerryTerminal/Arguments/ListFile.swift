/// The bytes of a list of files, which can be read more than once.
package struct ListFile: Sendable {
    /// The path as given, or "standard input".
    package let name: String
    private let readBytes: @Sendable (_ offset: Int) throws(UsageError) -> [UInt8]

    /// - Parameter readBytes: Returns some of the bytes from the offset on; none at the end.
    package init(name: String, readBytes: @escaping @Sendable (_ offset: Int) throws(UsageError) -> [UInt8]) {
        self.name = name
        self.readBytes = readBytes
    }

    /// A list with this text.
    package init(name: String, text: String) {
        let bytes = Array(text.utf8)
        self.init(name: name) { bytes.dropFirst($0).isEmpty ? [] : Array(bytes[$0...]) }
    }

    func read(at offset: Int) throws(UsageError) -> [UInt8] { try readBytes(offset) }
}
