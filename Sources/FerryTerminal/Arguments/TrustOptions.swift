package import ArgumentParser

/// The required proofs of integrity, and the rules for existing files.
package struct TrustOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "If the file name exists: rename, overwrite, fail or skip (default: rename).", valueName: "rule"))
    package var onConflict: String?

    @Flag(help: "Require proof that the file is consistent (digest, single or strong).")
    package var strict = false

    @Flag(help: "Use several connections even without a strong validator or digest.")
    package var unproven = false

    @Flag(help: "Resume by comparing samples if the server sends no validator.")
    package var resumeUnproven = false

    @Flag(help: "Fail if the file on the server has changed, and keep the existing data.")
    package var noRestart = false

    @Flag(name: .customLong("accept-html"), help: "Accept an HTML page even if another type is expected.")
    package var acceptHTML = false

    @Flag(help: "Let the finished file have the present time, not the server's.")
    package var noMtime = false

    @Flag(help: "Skip fsync: data survives a crash of ferry, but not a power cut.")
    package var noFsync = false

    package init() {}
}
