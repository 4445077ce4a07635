/// How the app uses its manager.
struct AppSettings: Codable {
    var identifier: String
    /// Where downloads go.
    var directory: String
    /// Where the catalogue is.
    var state: String
    var limit: Int
    var storesCredentials: Bool
    /// `none`, `print`, or `acknowledge`: prints and acknowledges.
    var events: String
    /// `none`, `print`, or `hold`: prints, and never returns from what is told of a completed download.
    var delegate: String
    /// Its downloads run in the daemon.
    var isBackground: Bool?
    /// What the daemon starts when events wait.
    var launchCommand: [String]?
    /// Who fetches from this path traps.
    var trapsOn: String?
    /// For one that the daemon starts: where its lines go, and that it leaves once it has been told all.
    var report: String?
}

/// What the app is to do; which fields count depends on `what`.
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
    /// A secret header, `X-Token`.
    var token: String?
    /// For `wait`: the kind of the state.
    var state: String?
    /// For `wait`: so many bytes are there.
    var bytes: Int64?
}
