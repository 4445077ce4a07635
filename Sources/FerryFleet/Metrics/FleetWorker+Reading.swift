extension FleetWorker {
    /// What this worker holds and has done.
    ///
    /// - Parameter meter: That of its connections.
    func reading(_ meter: FleetMeter) -> WorkerReading {
        let now = now
        return WorkerReading(
            hasJoined: machine.deadline > .zero, leases: machine.leaseCount, waiting: machine.unstartedCount,
            running: machine.runningCount, undelivered: machine.undeliveredCount, completed: counts.completed,
            failed: counts.failed, age: now, untilDeadline: machine.deadline - now,
            silence: meter.silence(at: .now), isAway: times.isAway)
    }
}
