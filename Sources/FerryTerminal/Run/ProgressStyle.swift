/// How progress is shown.
package enum ProgressStyle: Sendable, Hashable {
    /// Redrawn in place on a terminal.
    case bars(color: Bool)
    /// A line now and then.
    case lines
    /// Lines of JSON on standard output.
    case json
    case none

    /// How often progress is looked at; `nil`: never.
    package var interval: Duration? {
        switch self {
        case .bars: .milliseconds(100)
        case .lines: .milliseconds(250)
        case .json: .milliseconds(250)
        case .none: nil
        }
    }

    /// The style for these options.
    ///
    /// - Parameter canDraw: Standard error is a terminal that can move its cursor.
    package static func choose(_ options: OutputOptions, canDraw: Bool, environment: [String: String]) -> ProgressStyle
    {
        if options.result == .json { return .json }
        guard options.showsProgress else { return .none }
        guard canDraw else { return .lines }
        return .bars(color: environment["NO_COLOR"].map(\.isEmpty) ?? true)
    }
}
