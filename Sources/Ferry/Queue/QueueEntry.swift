import FerryCore

/// One listed download, as the queue sees it: in exactly one state, under one key.
///
/// ``State/after(_:)`` is the table of docs/queue-states.md.
package struct QueueEntry: Sendable {
    /// A state without a run.
    package enum Rest: Sendable, Hashable {
        /// Paused, ended, or waiting for its user.
        case parked
        /// Waiting for a slot, or for a network.
        case queued
        /// Queued from that time on.
        case waiting(until: Duration)
    }

    enum State: Sendable {
        case resting(Rest)
        case running(Run)
        /// The run is ending and keeps its slot until then.
        case stopping(Run, then: Rest)
        /// Out of the queue while its request, files or row are changed; a run that it still has is ending.
        case changing(Run?, then: Rest)
        /// Removed from the list while its run is ending.
        case leaving(Run)
    }

    /// A fact that changes the state of an entry.
    package enum Fact: Sendable {
        /// Added, resumed or found when the list is opened: the state without a run.
        case list(Rest)
        /// Paused, ended, or to be retried: the state without a run.
        case rest(Rest)
        /// The time of a waiting download has come, or its user retries now.
        case wake
        /// A slot is assigned.
        case start(Run)
        /// The slot or the network is withdrawn.
        case stop
        /// The run has ended.
        case ended
        /// A change begins.
        case hold
        /// The change is over.
        case settle
        /// Removed from the list.
        case remove
    }

    var state = State.resting(.parked)
    var key: QueueKey
    /// The networks that the download may use.
    var rule = NetworkRule()
    /// The host in ``QueuedHosts``, while the download is not parked.
    var host = QueuedHosts.none
    /// The session that the download counts against; 0 for the list's own.
    var group: UInt16 = 0
    /// The lane of its network needs.
    var lane: UInt8 = 0
    /// The machine went offline during its run, and its host is being resolved; it continues for a grace period.
    var isInDoubt = false
    /// The wait for a network was reported.
    var wasReported = false
    /// A change that began during its run has not ended: no other download gets its slot meanwhile.
    var keepsSlot = false
    /// The next run downloads the file although it exists.
    var fetchesAnew = false
    /// Changes with every change of the entry, which invalidates its heap nodes and rows read before.
    var stamp: UInt64 = 0

    /// Whether it counts for the limit.
    var takesSlot: Bool {
        switch state {
        case .resting: false
        case .changing(nil, _): keepsSlot
        case .running, .stopping, .changing, .leaving: true
        }
    }
}

extension QueueEntry.State {
    /// The state after a fact; `nil` if the download is gone. A fact that means nothing in a state does not change it.
    func after(_ fact: QueueEntry.Fact) -> QueueEntry.State? {
        switch (self, fact) {
        case (.resting, .list(let rest)), (.resting, .rest(let rest)): .resting(rest)
        case (.running, .list(.queued)), (.running, .rest(.queued)): self
        case (.running(let run), .list(let rest)), (.running(let run), .rest(let rest)): .stopping(run, then: rest)
        case (.stopping(let run, _), .list(let rest)), (.stopping(let run, _), .rest(let rest)):
            .stopping(run, then: rest)
        case (.changing(let run, _), .list(let rest)), (.changing(let run, _), .rest(let rest)):
            .changing(run, then: rest)
        case (.leaving(let run), .list(let rest)): .stopping(run, then: rest)

        case (.resting(.waiting), .wake): .resting(.queued)
        case (.stopping(let run, then: .waiting), .wake): .stopping(run, then: .queued)
        case (.changing(let run, then: .waiting), .wake): .changing(run, then: .queued)

        case (.resting(.queued), .start(let run)): .running(run)
        case (.running(let run), .stop): .stopping(run, then: .queued)

        case (.running, .ended): .resting(.queued)
        case (.stopping(_, let rest), .ended): .resting(rest)
        case (.changing(_, let rest), .ended): .changing(nil, then: rest)
        case (.leaving, .ended): nil

        case (.resting(let rest), .hold): .changing(nil, then: rest)
        case (.running(let run), .hold): .changing(run, then: .queued)
        case (.stopping(let run, let rest), .hold): .changing(run, then: rest)
        case (.changing(nil, let rest), .settle): .resting(rest)
        case (.changing(let run?, let rest), .settle): .stopping(run, then: rest)

        case (.resting, .remove), (.changing(nil, _), .remove): nil
        case (.running(let run), .remove), (.stopping(let run, _), .remove), (.changing(let run?, _), .remove):
            .leaving(run)

        case (_, .wake), (_, .start), (_, .stop), (_, .hold), (_, .settle), (.resting, .ended), (.leaving, .rest),
            (.leaving, .remove):
            self
        }
    }

    /// The run, which keeps its slot until it has ended.
    var run: Run? {
        switch self {
        case .running(let run), .stopping(let run, _), .leaving(let run): run
        case .changing(let run, _): run
        case .resting: nil
        }
    }

    var isParked: Bool { if case .resting(.parked) = self { true } else { false } }
    var isQueued: Bool { if case .resting(.queued) = self { true } else { false } }
    var isRunning: Bool { if case .running = self { true } else { false } }
    var isChanging: Bool { if case .changing = self { true } else { false } }
    var isLeaving: Bool { if case .leaving = self { true } else { false } }
}
