package import ArgumentParser

/// The arguments of `ferry get` and `ferry plan`.
package struct GetOptions: ParsableArguments, Sendable {
    @OptionGroup package var files: FileOptions
    @OptionGroup(title: "Request") package var request: RequestOptions
    @OptionGroup(title: "Trust and conflicts") package var trust: TrustOptions
    @OptionGroup(title: "Transfer") package var run: RunOptions
    @OptionGroup(title: "Output") package var show: OutputFlags

    package init() {}
}
