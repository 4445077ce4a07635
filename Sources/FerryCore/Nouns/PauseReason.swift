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
