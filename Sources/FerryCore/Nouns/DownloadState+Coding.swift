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

/// Coded as `{"state": …}`; `waiting` has the members of its reason, `failed` has `error`, `completed` has `proof`.
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
