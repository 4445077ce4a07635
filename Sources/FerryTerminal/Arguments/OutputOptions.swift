/// The output options of a command.
package struct OutputOptions: Sendable, Hashable {
    /// The content of standard output.
    package enum Result: Sendable, Hashable {
        /// The paths of finished files, each terminated by this byte: a line feed or NUL.
        case paths(end: UInt8)
        case json
        /// The bytes of the downloaded file, and no other output.
        case body
    }

    package var result: Result
    package var detail: EventText.Detail
    /// Whether progress is shown on standard error, as bars or plain lines.
    package var showsProgress: Bool

    package init(result: Result = .paths(end: 0x0A), detail: EventText.Detail = .normal, showsProgress: Bool = true) {
        self.result = result
        self.detail = detail
        self.showsProgress = showsProgress
    }
}
