/// Why a download is paused, where nobody asked for that.
public enum PauseReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// The process died three times in a row while it ran this download. Resuming it is another try.
    case crashes

    /// The same in words.
    package var phrase: ErrorPhrase {
        switch self {
        case .crashes: ErrorPhrase(.pausedForCrashes)
        }
    }
}
