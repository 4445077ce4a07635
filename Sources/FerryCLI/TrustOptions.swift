import ArgumentParser
import FerryTerminal

/// Options for integrity proofs and existing files.
struct TrustOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "If the file name exists: rename, overwrite, fail or skip (default: rename).", valueName: "rule"))
    var onConflict: String?

    @Flag(help: "Require proof that the file is consistent (digest, single or strong).")
    var strict = false

    @Flag(help: "Use several connections even without a strong validator or digest.")
    var unproven = false

    @Flag(help: "Resume by comparing samples if the server sends no validator.")
    var resumeUnproven = false

    @Flag(help: "Fail if the file on the server has changed, and keep the existing data.")
    var noRestart = false

    @Flag(name: .customLong("accept-html"), help: "Accept an HTML page even if another type is expected.")
    var acceptHTML = false

    @Flag(help: "Skip fsync: data survives a crash of ferry, but not a power cut.")
    var noFsync = false

    @Flag(help: "Use your own files even if they are group-writable, in a directory shared with a group.")
    var sharedGroup = false

    func fill(_ options: inout GetOptions) {
        options.onConflict = onConflict
        options.strict = strict
        options.unproven = unproven
        options.resumeUnproven = resumeUnproven
        options.noRestart = noRestart
        options.acceptHTML = acceptHTML
        options.noFsync = noFsync
        options.sharedGroup = sharedGroup
    }
}
