import ArgumentParser

/// `ferry curl`. ``FerryCommand`` translates the arguments without parsing them; this type only describes the command.
struct CurlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "curl", abstract: "Download with the arguments of curl.",
        discussion: """
            ferry curl --help says what becomes of each option. Options of ferry get can be added.

            EXAMPLES:
              ferry curl -LO https://example.com/large.iso
            """)

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Arguments of curl.", valueName: "argument"))
    var arguments: [String] = []
}

/// `ferry wget`, see ``CurlCommand``.
struct WgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wget", abstract: "Download with the arguments of wget.",
        discussion: """
            ferry wget --help says what becomes of each option. Options of ferry get can be added.

            EXAMPLES:
              ferry wget -c https://example.com/large.iso
            """)

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Arguments of wget.", valueName: "argument"))
    var arguments: [String] = []
}
