/// How long responses take, from request to head.
struct ResponseLatency: Sendable {
    /// The shortest time of a request on a new connection, with the set-up of the connection.
    private(set) var setUp: Duration = .zero
    /// The shortest time on a connection in use; until one is known, half of ``setUp``, since TCP alone needs as long as
    /// the request.
    private(set) var roundTrip: Duration = .zero
    private var isMeasured = false

    /// Records the time of a response; `isFirst` says that its connection was made for it.
    mutating func record(_ time: Duration, isFirst: Bool) {
        if isFirst {
            setUp = setUp == .zero ? time : min(setUp, time)
            if !isMeasured { roundTrip = setUp / 2 }
        } else {
            roundTrip = isMeasured ? min(roundTrip, time) : time
            isMeasured = true
        }
    }
}
