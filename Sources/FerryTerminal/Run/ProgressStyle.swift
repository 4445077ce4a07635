/// The form of progress output.
package enum ProgressStyle: Sendable, Hashable {
    /// Bars redrawn in place on a terminal.
    case bars(color: Bool)
    /// Occasional lines.
    case lines
    /// Lines of JSON on standard output.
    case json
    case none

    /// The interval of progress updates; `nil` for none.
    package var interval: Duration? {
        switch self {
        case .bars: .milliseconds(100)
        case .lines: .milliseconds(250)
        case .json: .milliseconds(250)
        case .none: nil
        }
    }

    /// Returns the style for these options.
    ///
    /// - Parameter canDraw: Whether standard error is a terminal with cursor movement.
    package static func choose(_ options: OutputOptions, canDraw: Bool, environment: [String: String]) -> ProgressStyle
    {
        if options.result == .json { return .json }
        guard options.showsProgress else { return .none }
        guard canDraw else { return .lines }
        return .bars(color: environment["NO_COLOR"].map(\.isEmpty) ?? true)
    }
}
