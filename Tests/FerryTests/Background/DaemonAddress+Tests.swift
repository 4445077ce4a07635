@testable import FerryClient

extension DaemonAddress {
    /// The daemon of a test, which starts no program unless it names one. A slow machine does not reach its patience.
    static func test(
        _ socket: String, identifier: String = "test", directory: String = "/tmp",
        binary: String? = "/nonexistent/ferry"
    ) -> DaemonAddress {
        var place = DaemonAddress(identifier: identifier, directory: directory)
        (place.socket, place.binary, place.patience) = (socket, binary, .seconds(3600))
        return place
    }
}
