import ArgumentParser
import FerryTerminal

/// Options about proof, and about files that are there already.
struct TrustOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "When the name is taken: rename, overwrite, fail or skip (default: rename).", valueName: "rule"))
    var onConflict: String?

    @Flag(help: "Accept only files that are proven to be of one piece (proof digest, single or strong).")
    var strict = false

    @Flag(help: "Use several connections although nothing proves that their parts belong together.")
    var unproven = false

    @Flag(help: "Go on, by comparing samples, where the server names no version of the file at all.")
    var resumeUnproven = false

    @Flag(help: "When the file on the server has changed: fail and leave everything as it is.")
    var noRestart = false

    @Flag(
        name: .customLong("accept-html"),
        help: "Take a web page although the file's name, or what is held of it, says that it is none.")
    var acceptHTML = false

    @Flag(help: "Do not sync to the disk: survives a crash of the program, not a power cut.")
    var noFsync = false

    @Flag(help: "In a directory of a group, use files of your own that the group can write to.")
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
