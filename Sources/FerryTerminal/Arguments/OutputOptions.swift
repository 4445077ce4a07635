/// What is written where.
package struct OutputOptions: Sendable, Hashable {
    /// What standard output holds.
    package enum Result: Sendable, Hashable {
        /// Finished paths, each ended by this byte: a line feed, or NUL.
        case paths(end: UInt8)
        case json
        /// The bytes of the file: nothing else may go there.
        case body
    }

    package var result: Result
    package var detail: EventText.Detail
    /// Bars or plain lines on standard error.
    package var showsProgress: Bool

    package init(result: Result = .paths(end: 0x0A), detail: EventText.Detail = .normal, showsProgress: Bool = true) {
        self.result = result
        self.detail = detail
        self.showsProgress = showsProgress
    }
}
