/// The configuration of the app and its manager.
struct AppSettings: Codable {
    var identifier: String
    /// The download directory.
    var directory: String
    /// The state directory.
    var state: String
    var limit: Int
    var storesCredentials: Bool
    /// `none`, `print`, or `acknowledge`, which also prints.
    var events: String
    /// `none`, `print`, or `hold`, which also prints and never returns from the completion of a download.
    var delegate: String
    /// Whether downloads run in the daemon.
    var isBackground: Bool?
    /// The command that the daemon runs when events are unacknowledged.
    var launchCommand: [String]?
    /// A path whose fetch traps.
    var trapsOn: String?
    /// The output file of an app that the daemon launches. With it, the app exits once all events are delivered.
    var report: String?
}

/// A command to the app; `what` determines the fields that are used.
struct AppCommand: Codable {
    /// `activate`, `add`, `list`, `wait`, `pause`, `resume`, `cancel`, `keep`, `credentials`, `shutdown`,
    /// `exit`, `trap`.
    var what: String
    var id: String?
    var url: String?
    var label: String?
    var userInfo: [String: String]?
    var priority: Int?
    var isPaused: Bool?
    var rateLimit: Int64?
    var metered: Bool?
    var user: String?
    var password: String?
    /// The value of a secret header, `X-Token`.
    var token: String?
    /// For `wait`: the kind of state.
    var state: String?
    /// For `wait`: the minimum number of completed bytes.
    var bytes: Int64?
}
