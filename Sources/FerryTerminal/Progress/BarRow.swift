/// The texts of one line of bars.
struct BarRow: Sendable, Hashable {
    /// Escaped already.
    var name: String
    var fraction: Double?
    var isComplete: Bool
    var size: String
    var speed: String
    var timeLeft: String
    var connections: String
    /// What stands in place of speed, time left and connections while the file does not move.
    var remark: String?
}
