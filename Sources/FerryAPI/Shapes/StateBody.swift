package import FerryCore
package import struct Foundation.Date

/// A download's state in the API: a word and its payload.
package struct StateBody: Sendable, Hashable {
    /// `waiting`, `downloading`, `verifying`, `paused`, `failed`, `completed`, `cancelled`.
    package var state: String
    /// `slot`, `network`, `retry`, `diskSpace`, `freshLink`, `credentials`, `notBefore`; `nil` in other states.
    package var waitReason: String?
    /// The time at which a wait for `retry` or `notBefore` ends.
    package var until: Date?
    /// The error of a failed download.
    package var error: ErrorBody?
    /// The ``FerryCore/Proof`` of a completed download.
    package var proof: String?

    package init(state: String, waitReason: String?, until: Date?, error: ErrorBody?, proof: String?) {
        self.state = state
        self.waitReason = waitReason
        self.until = until
        self.error = error
        self.proof = proof
    }

    package init(_ value: DownloadState) {
        self.init(state: value.kind.rawValue, waitReason: nil, until: nil, error: nil, proof: nil)
        switch value {
        case .waiting(let reason): (waitReason, until) = reason.word
        case .failed(let failure): error = ErrorBody(failure)
        case .completed(let proof): self.proof = proof.rawValue
        case .downloading, .verifying, .paused, .cancelled: break
        }
    }

    /// The state; `nil` when a word is unknown.
    package var value: DownloadState? {
        switch DownloadState.Kind(rawValue: state) {
        case .waiting: waitReason.flatMap { WaitReason(word: $0, until: until) }.map { .waiting($0) }
        case .downloading: .downloading
        case .verifying: .verifying
        case .paused: .paused
        case .failed: error.map { .failed($0.error) }
        case .completed: proof.flatMap(Proof.init(rawValue:)).map { .completed($0) }
        case .cancelled: .cancelled
        case nil: nil
        }
    }

    /// The actions valid in the state, in the order of the table.
    package var actions: [String] {
        guard let allowed = value?.actions else { return [] }
        return DownloadAction.allCases.filter(allowed.contains).map(\.rawValue)
    }
}

extension WaitReason {
    /// The word of the reason, and its time if any.
    package var word: (String, Date?) {
        switch self {
        case .slot: ("slot", nil)
        case .network: ("network", nil)
        case .retry(let date): ("retry", date)
        case .diskSpace: ("diskSpace", nil)
        case .freshLink: ("freshLink", nil)
        case .credentials: ("credentials", nil)
        case .notBefore(let date): ("notBefore", date)
        }
    }

    /// All words, in the order of the cases.
    package static let words = ["slot", "network", "retry", "diskSpace", "freshLink", "credentials", "notBefore"]

    init?(word: String, until: Date?) {
        switch word {
        case "slot": self = .slot
        case "network": self = .network
        case "retry": self = .retry(at: until ?? Date(timeIntervalSince1970: 0))
        case "diskSpace": self = .diskSpace
        case "freshLink": self = .freshLink
        case "credentials": self = .credentials
        case "notBefore": self = .notBefore(until ?? Date(timeIntervalSince1970: 0))
        default: return nil
        }
    }
}
