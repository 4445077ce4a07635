/// What a confined daemon and the process that starts its commands say to each other, each a line of JSON.
enum StarterMessage {
    /// Of the daemon: start this.
    struct Request: Codable, Sendable, Hashable {
        /// Names it in the reply.
        var number: Int
        var command: [String]
        var variables: [String: String]
    }

    /// Of the starter: it has ended, or cannot be started.
    struct Reply: Codable, Sendable, Hashable {
        var number: Int
        var failure: String?
    }
}
