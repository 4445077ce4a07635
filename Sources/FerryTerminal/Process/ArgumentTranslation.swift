/// Translates the arguments with which another program, such as a browser, starts this one.
package struct ArgumentTranslation: Sendable {
    private let translate: @Sendable ([String]) -> [String]

    /// - Parameter translate: Returns the command's own arguments for those of a known program; other arguments unchanged.
    package init(_ translate: @escaping @Sendable ([String]) -> [String]) { self.translate = translate }

    package func command(_ arguments: [String]) -> [String] { translate(arguments) }
}
