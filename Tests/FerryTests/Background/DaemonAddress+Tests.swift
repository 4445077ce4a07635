@testable import Ferry

extension DaemonAddress {
    /// The daemon of a test, which starts no program unless it names one.
    ///
    /// - Parameter patience: By default so long that a slow machine does not reach it: time limits have tests of their own.
    static func test(
        _ socket: String, identifier: String = "test", directory: String = "/tmp",
        binary: String? = "/nonexistent/ferry", patience: Duration = .seconds(3600)
    ) -> DaemonAddress {
        var place = DaemonAddress(identifier: identifier, directory: directory)
        (place.socket, place.binary, place.patience) = (socket, binary, patience)
        return place
    }
}
