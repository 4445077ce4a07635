import ArgumentParser
import FerryTerminal

/// `ferry sync`: makes a directory, or the prefix of a bucket, a copy of a set of files.
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Keep a directory or a bucket in sync with a list of files, or all files below an index page.",
        usage: """
            ferry sync SOURCE DIR|s3://BUCKET/PREFIX/ [--include PATTERN]
                       [--exclude PATTERN] [--delete] [--backup-dir DIR]
                       [--dry-run|--daemon] [options]
            """,
        discussion: """
            Fetches what is missing here or has changed there; run it again to resume or to update. Nothing that this \
            command has not downloaded is replaced without --on-conflict overwrite. DIR/ferry-manifest.jsonl records \
            each file with size, digest, source and proof; ferry verify and ferry repair use it. In a bucket the manifest is \
            an object below the prefix.

            EXAMPLES:
              ferry sync https://example.com/release-1.0/ release --exclude '*.asc'
              ferry sync https://example.com/release-1.0/SHA256SUMS release
              ferry sync files.jsonl data -j 8
              ferry sync https://example.com/release-1.0/ s3://bucket/release-1.0/
              ferry sync results s3://bucket/results/ --delete
              ferry verify release && ferry repair release

            EXIT CODES: see ferry get --help.
            """)

    @OptionGroup var arguments: SyncArguments

    func act() async -> FerryTerminal.ExitCode {
        guard let standard = try? GetOptions.parse([]) else { return .internal }
        guard arguments.daemon else { return await Program.sync(arguments, standard: standard) }
        return await Program.remote("sync", json: arguments.show.json, starts: true) {
            try await $0.addSet(arguments, standard: standard)
        }
    }
}

/// `ferry verify`: compares files with their recorded digests.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare downloaded files with the digests that were recorded with them.",
        discussion: """
            For a directory: every file in the manifest of ferry sync. For a file: the digests of ferry sync or ferry \
            get --record-digests. A damaged file differs although nothing has written to it; a changed one was written \
            later. The exit code is 7 if a file is damaged, changed or missing.
            """)

    @OptionGroup var arguments: VerifyArguments

    func act() async -> FerryTerminal.ExitCode { await Program.verify(arguments) }
}

/// `ferry repair`: fetches the damaged bytes of files.
struct RepairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Fetch only the damaged pieces of downloaded files again.",
        discussion: """
            Verifies the files, copies their intact bytes beside them, fetches the others, compares the digest, and then \
            replaces each file in one step. If the file on the server has changed, nothing is replaced. In a directory \
            files that were written here later are left alone unless --changed is given.

            EXIT CODES: see ferry get --help.
            """)

    @OptionGroup var arguments: RepairArguments

    func act() async -> FerryTerminal.ExitCode {
        guard let standard = try? GetOptions.parse([]) else { return .internal }
        return await Program.repair(arguments, standard: standard)
    }
}
