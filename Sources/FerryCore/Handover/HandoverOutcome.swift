/// A task of the system's session.
package struct SystemTask: Sendable, Hashable {
    package let id: Int
    /// The description that the task was begun with.
    package let ticket: String?
    /// The received bytes, as far as the system tells.
    package let received: ByteCount

    package init(id: Int, ticket: String?, received: ByteCount = 0) {
        self.id = id
        self.ticket = ticket
        self.received = received
    }
}

/// The error of a task of the system.
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

    /// Why the system ended the task; `nil` if the transfer itself failed.
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

/// Why the system ended a task, without any fault of the server, the network or the app.
package enum SystemStop: String, Sendable, Hashable, CaseIterable {
    /// The user has removed the app from the list of running apps.
    case forceQuit
    /// Background activity is disabled for the app.
    case updatesDisabled
    /// The system was short of resources.
    case noResources
    /// Cancelled, for no stated reason.
    case cancelled
    /// The service that transfers was not reachable (-995, -996, -997).
    case serviceLost
    /// No network, or none that may be used (-1009, -1018, -1020).
    case offline
}

/// The end of a lease.
package enum LeaseOutcome: Hashable, Sendable {
    /// The journal claims its bytes; so many were missing.
    case claimed(ByteCount)
    /// Its bytes had been claimed before.
    case repeated
    case refused(LandedRefusal)
    /// The app has taken the range back.
    case takenBack
    case stopped(SystemStop)
    /// The transfer failed with this code, after all attempts of the system.
    case failed(code: Int)
    /// The system has no such task, or its task ended without a file.
    case lost
    /// The download is not listed any more.
    case withdrawn

    /// Whether the end counts as an attempt of the download. A crash of the app it never is.
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

/// A command of ``HandoverMachine``. Those of one event are executed in their order.
package enum HandoverAction: Hashable, Sendable {
    /// Cancel this task; its end will be told.
    case cancel(task: Int)
    /// Splice the landed file of this lease, then call ``HandoverMachine/spliced(_:_:)``.
    case splice(Lease)
    /// Store and deliver this end before the next action.
    case report(LeaseEnd)
    /// Store the leases durably before the next action.
    case save(LeaseBook)
    /// Remove the landed file of this number, if there is one.
    case discard(LeaseNumber)
    /// Call the completion handlers of the system's wakes, each once.
    case complete
}

/// What splicing a landed file came to.
package enum SpliceResult: Hashable, Sendable {
    case ended(LeaseOutcome)
    /// The download cannot take bytes now; its next run settles that first.
    case postponed
}
