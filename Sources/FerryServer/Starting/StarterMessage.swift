/// The messages between a confined daemon and its starter process, each a line of JSON.
enum StarterMessage {
    /// A request of the daemon to start a command.
    struct Request: Codable, Sendable, Hashable {
        /// Identifies the request in the reply.
        var number: Int
        var command: [String]
        var variables: [String: String]
    }

    /// A reply of the starter process: the command has ended, or cannot be started.
    struct Reply: Codable, Sendable, Hashable {
        var number: Int
        var failure: String?
    }
}
