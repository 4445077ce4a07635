import ArgumentParser
import FerryTerminal

/// `ferry get`: downloads files in this process.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        // Parsed without the other commands, so that the arguments are not matched with the options of the root command.
        _superCommandName: "ferry",
        abstract: "Download files; run the same command again to resume.",
        usage: """
            ferry get URL... [-o FILE] [-d DIR] [options]
            ferry get -i LIST [options]
            ferry get NAME.part [NEWURL]
            ferry get DIR
            """,
        discussion: """
            Paths of finished files are printed on standard output, everything else on standard error. After Ctrl-C, a \
            crash or a lost connection, the same command resumes the download. NAME.part resumes that part file, from \
            NEWURL if its link has expired; DIR resumes all part files in it.

            A list has one URL per line; URLs on one line, separated by tabs or spaces, are mirrors of one file. \
            Indented lines below a URL are its options: out=, dir=, checksum=, header=.

            Sizes and rates: K M G and KB MB GB are powers of 1000, KiB MiB GiB powers of 1024.

            EXAMPLES:
              ferry get https://example.com/large.iso
              ferry get URL -o name.iso --checksum sha256:HEX --mirror URL2
              ferry get -i list.txt -d downloads -j 4
              ferry get large.iso.part https://example.com/fresh-link
              ferry get URL -o - | tar xz

            EXIT CODES:
            \(FerryTerminal.ExitCode.help)
            """)

    @OptionGroup var options: GetOptions
}
