/// The slots of entries that are requested without an entry in the manager's list. Pure.
///
/// They and the listed files together take no more slots than the manager has. If listed files take all slots, further entries
/// are listed too, so that the manager decides their order.
struct SmallFiles: Sendable {
    /// The maximum number of files at a time.
    let limit: Int
    private var count = 0

    init(limit: Int) { self.limit = limit }

    /// Whether another entry may be submitted.
    ///
    /// - Parameter listed: The number of listed files that have not ended.
    func hasRoom(besides listed: Int) -> Bool { count == 0 || count + listed < limit }

    /// Takes a slot. Returns `false` if listed files have all.
    mutating func begin(besides listed: Int) -> Bool {
        guard count + listed < limit else { return false }
        count += 1
        return true
    }

    mutating func end() { count -= 1 }
}
