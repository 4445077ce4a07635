/// The texts of one line of bars.
struct BarRow: Sendable, Hashable {
    /// Already escaped.
    var name: String
    var fraction: Double?
    var isComplete: Bool
    var size: String
    var speed: String
    var timeLeft: String
    var connections: String
    /// Text in place of speed, time left and connections while the file is not downloading.
    var remark: String?
}
