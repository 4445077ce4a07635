/// How strongly a finished file is known to be of one piece.
///
/// Ordered from the weakest (`none`) to the strictest (`digest`).
public enum Proof: String, Sendable, Hashable, Codable, Comparable, CaseIterable {
    /// Parts joined with nothing to hold them together, or a body that ended by close without a length.
    case none
    /// Parts joined under one weak validator, without comparing samples.
    case weak
    /// Parts joined after samples of what was held matched what the server sends.
    case sampled
    /// Parts joined under one strong validator (RFC 9110 §8.8.1).
    case strong
    /// One uninterrupted response, read to its declared end.
    case single
    /// The whole file matched a digest that was given or offered.
    case digest

    public static func < (lhs: Proof, rhs: Proof) -> Bool { lhs.rank < rhs.rank }

    /// Whether `--strict` accepts a file with this proof: only `digest`, `single` and `strong` are.
    public var isStrict: Bool { self >= .strong }

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
