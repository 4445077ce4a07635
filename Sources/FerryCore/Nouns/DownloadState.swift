#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.Date
#else
    public import struct Foundation.Date
#endif

/// The reason for which a download waits.
public enum WaitReason: Sendable, Hashable {
    /// All slots are in use.
    case slot
    /// The server makes all its downloads wait: it requested a delay, does not respond, or its budget is used up.
    /// ``DownloadStatus/waitError`` contains the cause. `since` is the time at which the server stopped responding.
    /// `until` is the time of the next attempt; `nil` if that depends on other downloads. Resuming the download starts
    /// an attempt now.
    case server(since: Date?, until: Date?)
    /// No network is available, or no network that the download's network rule permits.
    case network
    /// A transient failure occurred; the next attempt starts at this time.
    case retry(at: Date)
    /// Not enough free disk space.
    case diskSpace
    /// The link has expired. The download can resume from a new URL for the same file.
    case freshLink
    /// The server requires credentials.
    case credentials
    /// The earliest start time has not been reached.
    case notBefore(Date)
}

/// The state of a download.
public enum DownloadState: Sendable, Hashable {
    /// Waiting without a connection, for the given reason.
    case waiting(WaitReason)
    /// Running in a slot: requesting, receiving and writing.
    case downloading
    /// All bytes are written; their digest is being computed.
    case verifying
    /// Paused on request; partial content is kept.
    case paused
    /// Stopped by an error that needs intervention; partial content is kept.
    case failed(DownloadError)
    /// The file has its final name; the proof is the strength of its integrity check.
    case completed(Proof)
    /// Cancelled; the part file and the journal are removed unless resume data was requested.
    case cancelled

    /// Whether the download has ended and uses no connection, slot or timer.
    public var isFinal: Bool {
        switch self {
        case .failed, .completed, .cancelled: true
        case .waiting, .downloading, .verifying, .paused: false
        }
    }
}

extension DownloadState {
    /// Whether the download has not started because it waits for a slot or for its server.
    package var isInLine: Bool {
        switch self {
        case .waiting(.slot), .waiting(.server): true
        default: false
        }
    }
}

/// An action on a download.
public enum DownloadAction: String, Sendable, Hashable, Codable, CaseIterable {
    case resume, pause, cancel, change, restart, remove
}

extension DownloadState {
    /// The actions that are possible in this state. Any other call throws `wrongState`, or does nothing if the download
    /// is already in the state that the action leads to.
    public var actions: Set<DownloadAction> {
        switch self {
        case .waiting: [.resume, .pause, .cancel, .change, .remove]
        case .downloading: [.pause, .cancel, .change, .remove]
        case .verifying: [.pause, .cancel, .remove]
        case .paused, .failed: [.resume, .cancel, .change, .remove]
        case .completed, .cancelled: [.restart, .remove]
        }
    }

    /// Returns whether an action has to be performed: false if the download is already in the state that the action
    /// leads to. Throws `wrongState` if the action is not possible.
    package func begins(_ action: DownloadAction, on name: String) throws(DownloadError) -> Bool {
        if actions.contains(action) { return true }
        switch (action, self) {
        case (.pause, .paused), (.resume, .downloading), (.resume, .verifying), (.cancel, .cancelled): return false
        default: throw refusal(of: action, on: name)
        }
    }

    /// The error of an action that is not possible in this state.
    package func refusal(of action: DownloadAction, on name: String) -> DownloadError {
        DownloadError(.wrongState, ErrorPhrase(action.refusal, name, ErrorPhrase(phrase)))
    }

    /// The error that a reader receives when the download will not continue by itself.
    package func unreadable(_ name: String) -> DownloadError {
        DownloadError(.wrongState, ErrorPhrase(.cannotRead, name, ErrorPhrase(phrase)), recovery: .needsUser)
    }

    private var phrase: ErrorPhrase.Key {
        switch self {
        case .waiting: .itWaits
        case .downloading: .itIsDownloading
        case .verifying: .itIsVerified
        case .paused: .itIsPaused
        case .failed: .itHasFailed
        case .completed: .itIsComplete
        case .cancelled: .itWasCancelled
        }
    }
}

extension DownloadAction {
    /// The sentence for the error when the action is refused; its arguments are a download and its state.
    fileprivate var refusal: ErrorPhrase.Key {
        switch self {
        case .resume: .cannotResume
        case .pause: .cannotPause
        case .cancel: .cannotCancel
        case .change: .cannotChange
        case .restart: .cannotRestart
        case .remove: .cannotRemove
        }
    }
}

extension DownloadState {
    /// The state without its payload; the raw value is its name in every format.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case waiting, downloading, verifying, paused, failed, completed, cancelled
    }

    package var kind: Kind {
        switch self {
        case .waiting: .waiting
        case .downloading: .downloading
        case .verifying: .verifying
        case .paused: .paused
        case .failed: .failed
        case .completed: .completed
        case .cancelled: .cancelled
        }
    }
}

/// Encoded as `{"state": …}`; `waiting` has the members of its reason, `failed` has `error`, `completed` has `proof`.
extension DownloadState: Codable {
    private enum CodingKeys: String, CodingKey { case state, error, proof }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decodeKind(Kind.self, of: "state", forKey: .state) {
        case .waiting: self = .waiting(try WaitReason(from: decoder))
        case .downloading: self = .downloading
        case .verifying: self = .verifying
        case .paused: self = .paused
        case .failed: self = .failed(try container.decode(DownloadError.self, forKey: .error))
        case .completed: self = .completed(try container.decodeKind(Proof.self, of: "proof", forKey: .proof))
        case .cancelled: self = .cancelled
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind.rawValue, forKey: .state)
        switch self {
        case .waiting(let reason): try reason.encode(to: encoder)
        case .failed(let error): try container.encode(error, forKey: .error)
        case .completed(let proof): try container.encode(proof.rawValue, forKey: .proof)
        case .downloading, .verifying, .paused, .cancelled: break
        }
    }
}

extension WaitReason {
    /// The reason without its time; the raw value is its name in every format.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case slot, server, network, retry, diskSpace, freshLink, credentials, notBefore
    }

    package var kind: Kind {
        switch self {
        case .slot: .slot
        case .server: .server
        case .network: .network
        case .retry: .retry
        case .diskSpace: .diskSpace
        case .freshLink: .freshLink
        case .credentials: .credentials
        case .notBefore: .notBefore
        }
    }
}

/// Encoded as `{"waitReason": …}`; `retry` and `notBefore` have `until`; `server` may have `since` and `until`.
extension WaitReason: Codable {
    private enum CodingKeys: String, CodingKey { case waitReason, since, until }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decodeKind(Kind.self, of: "wait reason", forKey: .waitReason) {
        case .slot: self = .slot
        case .server:
            func time(_ key: CodingKeys) throws -> Date? {
                guard container.contains(key), try !container.decodeNil(forKey: key) else { return nil }
                return try container.decodeTime(forKey: key)
            }
            self = .server(since: try time(.since), until: try time(.until))
        case .network: self = .network
        case .retry: self = .retry(at: try container.decodeTime(forKey: .until))
        case .diskSpace: self = .diskSpace
        case .freshLink: self = .freshLink
        case .credentials: self = .credentials
        case .notBefore: self = .notBefore(try container.decodeTime(forKey: .until))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind.rawValue, forKey: .waitReason)
        switch self {
        case .retry(let date), .notBefore(let date): try container.encode(time: date, forKey: .until)
        case .server(let since, let until):
            if let since { try container.encode(time: since, forKey: .since) }
            if let until { try container.encode(time: until, forKey: .until) }
        case .slot, .network, .diskSpace, .freshLink, .credentials: break
        }
    }
}

/// The reason for a pause that the user did not request.
public enum PauseReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// The process crashed three times in a row while it ran this download. Resuming it starts another attempt.
    case crashes

    /// The translatable text of the reason.
    package var phrase: ErrorPhrase {
        switch self {
        case .crashes: ErrorPhrase(.pausedForCrashes)
        }
    }
}
