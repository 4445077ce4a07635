/// A task of the system's background session.
package struct SystemTask: Sendable, Hashable {
    package let id: Int
    /// The description that the task was created with.
    package let ticket: String?
    /// The number of received bytes, according to the system.
    package let received: ByteCount

    package init(id: Int, ticket: String?, received: ByteCount = 0) {
        self.id = id
        self.ticket = ticket
        self.received = received
    }
}

/// The error of a task in the system's session.
package struct SystemFailure: Error, Sendable, Hashable {
    /// The code in `NSURLErrorDomain`.
    package let code: Int
    /// The value of `NSURLErrorBackgroundTaskCancelledReasonKey`.
    package let reason: Int?

    package init(code: Int, reason: Int? = nil) {
        self.code = code
        self.reason = reason
    }

    /// NSURLErrorCancelled.
    package static let cancelled = -999

    /// The reason why the system ended the task; `nil` if the transfer itself failed.
    package var stop: SystemStop? {
        switch (code, reason) {
        case (Self.cancelled, 0): .forceQuit
        case (Self.cancelled, 1): .updatesDisabled
        case (Self.cancelled, 2): .noResources
        case (Self.cancelled, _): .cancelled
        case (-995, _), (-996, _), (-997, _): .serviceLost
        case (-1009, _), (-1018, _), (-1020, _): .offline
        default: nil
        }
    }
}

/// The reason why the system ended a task although the transfer itself did not fail.
package enum SystemStop: String, Sendable, Hashable, CaseIterable {
    /// The user has removed the app from the list of running apps.
    case forceQuit
    /// Background activity is disabled for the app.
    case updatesDisabled
    /// The system lacked resources.
    case noResources
    /// The task was cancelled without a stated reason.
    case cancelled
    /// The system's transfer service was unreachable (-995, -996, -997).
    case serviceLost
    /// No network was available, or none that may be used (-1009, -1018, -1020).
    case offline
}

/// The end of a lease.
package enum LeaseOutcome: Hashable, Sendable {
    /// The journal claims the bytes; this many of them were missing.
    case claimed(ByteCount)
    /// The bytes had been claimed before.
    case repeated
    case refused(LandedRefusal)
    /// The app has taken the range back.
    case takenBack
    case stopped(SystemStop)
    /// The transfer failed with this code, after all attempts by the system.
    case failed(code: Int)
    /// The system has no such task, or the task ended without a file.
    case lost
    /// The download is no longer listed.
    case withdrawn

    /// Whether the end counts as an attempt of the download. It never counts as a crash of the app.
    package var isAttempt: Bool {
        switch self {
        case .failed: true
        case .refused(.answered(let assessment)):
            switch assessment {
            case .busy, .deadLink, .refused, .unusable: true
            case .begin, .goOn, .rewind, .askPlainly, .askWhole, .sample, .changed, .restart, .complete: false
            }
        case .claimed, .repeated, .refused, .takenBack, .stopped, .lost, .withdrawn: false
        }
    }
}

/// An ended lease, which is reported at least once.
package struct LeaseEnd: Hashable, Sendable {
    package let lease: Lease
    package let outcome: LeaseOutcome

    package init(lease: Lease, outcome: LeaseOutcome) {
        self.lease = lease
        self.outcome = outcome
    }
}

/// A command of ``HandoverMachine``. The commands of one event are executed in order.
package enum HandoverAction: Hashable, Sendable {
    /// Cancel this task; its end will be reported.
    case cancel(task: Int)
    /// Splice the landed file of this lease, then call ``HandoverMachine/spliced(_:_:)``.
    case splice(Lease)
    /// Store and deliver this end before the next action.
    case report(LeaseEnd)
    /// Store the leases durably before the next action.
    case save(LeaseBook)
    /// Remove the landed file with this number, if it exists.
    case discard(LeaseNumber)
    /// Call the completion handler of each wake once.
    case complete
}

/// The result of splicing a landed file.
package enum SpliceResult: Hashable, Sendable {
    case ended(LeaseOutcome)
    /// The download cannot accept bytes now; the next run of the download resolves this first.
    case postponed
}
