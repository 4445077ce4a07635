/// The strength of the evidence that a finished file is intact and of one version.
///
/// Ordered from the weakest (`none`) to the strictest (`digest`).
public enum Proof: String, Sendable, Hashable, Codable, Comparable, CaseIterable {
    /// Parts joined without any validator, or a body without a length that ended with the connection.
    case none
    /// Parts joined under one weak validator, without comparing samples.
    case weak
    /// Parts joined after samples of the partial content matched the server's bytes.
    case sampled
    /// Parts joined under one strong validator (RFC 9110 §8.8.1).
    case strong
    /// One uninterrupted response, read to its declared end.
    case single
    /// The whole file matched a digest that the user gave or the server declared.
    case digest

    public static func < (lhs: Proof, rhs: Proof) -> Bool { lhs.rank < rhs.rank }

    /// Whether `--strict` accepts the proof: `digest`, `single` or `strong`.
    package var isStrict: Bool { self >= .strong }

    private var rank: Int {
        switch self {
        case .none: 0
        case .weak: 1
        case .sampled: 2
        case .strong: 3
        case .single: 4
        case .digest: 5
        }
    }
}
