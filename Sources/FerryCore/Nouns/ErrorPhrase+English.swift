extension ErrorPhrase.Key {
    /// The sentence with its holes, `{0}`, `{1}`, ….
    func pattern(in language: Language) -> String {
        switch language {
        case .english: english
        case .simplifiedChinese: simplifiedChinese
        }
    }

    var english: String {
        switch self {
        case .noURL: "no URL was given"
        case .notAPartFile: "{0} is not a part file"
        case .notAFileName: "{0} is not the name of a file"
        case .journalWithoutURL: "the journal {0} names no URL"
        case .directoryReadOnly: "the directory {0} cannot be written to"

        case .answered: "{0} answered {1}"
        case .unusableAnswer: "{0} gave an answer that cannot be used"
        case .unusableAnswers: "the server's answers cannot be used: {0}"
        case .noSourceLeft: "no source is left"
        case .asksForCredentials: "{0}: it asks for credentials"
        case .deadLink: "{0}: the link no longer works"
        case .gaveUpOnce: "gave up after 1 attempt: {0}"
        case .gaveUp: "gave up after {0} attempts: {1}"

        case .fileTooLarge: "the file has {0} bytes, more than the {1} allowed"
        case .fileLargerThan: "the file is larger than the {0} bytes allowed"
        case .noLength: "the server gives no length, so nothing proves that the file is whole"
        case .otherFile: "nothing proves that this link leads to the file that was begun: {0}"
        case .changed: "the file on the server is not the one that was begun: {0}"
        case .changedInStream: "the file on the server changed while it was written to the output: {0}"
        case .keepsChanging: "the source keeps changing: {0}"
        case .cannotGoOn: "it cannot go on: {0}"
        case .weakProof: "the file is complete, but its proof is only “{0}”"
        case .wrongDigest: "the file does not have its digest: expected {0}, got {1}"
        case .wrongDigestInStream: "what was written does not have its digest: expected {0}, got {1}"
        case .notInChecksumList: "{0} has no digest for {1}"

        case .partDamaged: "the part file {0} was deleted, shortened or replaced by another program"
        case .partReplaced: "the part file {0} was replaced by another program"
        case .removedAtOnce: "{0} was removed as soon as it had its name"
        case .thereAlready: "{0} is there already"
        case .inTheWay: "{0} is in the way"
        case .noFreeName: "no free name is left for {0}"
        case .belongsToAnother: "{0} belongs to another download"
        case .noSpace: "not enough space in {0}: {1} free, {2} missing"

        case .resumeDataEmpty: "the resume data is empty"
        case .resumeDataDamaged: "the resume data is damaged: {0}"
        case .resumeDataForeign: "this is no resume data of Ferry: {0}"
        case .resumeDataNewer:
            "the resume data is of a newer version of Ferry (format {0}, this one reads up to {1})"
        case .resumeDataUsed: "this resume data was used already: its download is listed"
        case .nothingYet: "nothing of it is there yet"
        case .nothingToResume: "nothing of it is there that could be gone on with"
        case .partGone: "the part file {0} is gone"

        case .wasCancelled: "{0} was cancelled"
        case .waitWasCancelled: "waiting for {0} was cancelled"
        case .leftAtShutDown: "{0} was left when Ferry was shut down"
        case .wasShutDown: "this download manager was shut down"
        case .alreadyListed: "{0} is listed already"
        case .notListed: "{0} is not listed any longer"
        case .unchangeable: "{0} has ended and cannot be changed"
        case .nothingLeft: "{0} has ended: there is nothing to go on with"
        case .credentialsNotKept: "the credentials of {0} were not kept"

        case .daemonNotFound: "Ferry's daemon does not run, and the program ferry was not found: {0}"
        case .daemonNotStarted: "{0} could not be started as Ferry's daemon: {1}"
        case .daemonSilent: "Ferry's daemon does not answer at {0}"
        case .daemonLost: "the connection to Ferry's daemon was lost: {0}"
        case .daemonOtherVersion: "Ferry's daemon speaks another version than this program: {0}"
        case .daemonUnreadable: "Ferry's daemon says what cannot be read: {0}"
        case .socketUnsafe: "the directory {0} of the daemon's socket is not this user's alone"
        case .streamStaysHere: "a download into a stream cannot be handed to the daemon"
        case .waitForDaemonWasCancelled: "waiting for Ferry's daemon was cancelled"

        case .leftAsItIs: "What is here was left as it is."
        case .orRestart: "Without --no-restart it begins again; what is here was left as it is."
        case .giveCredentials: "Give --user or --header, and run it again; what is here is kept."
        case .giveFreshLink: "Give a fresh link for the same file; what is here is kept."
        case .runAgain: "Run it again to go on from here."
        case .giveChecksum: "Give a --checksum, or leave --strict away."
        case .keptMarked: "What came is kept beside, marked; running it again begins anew."
        case .doNotUse: "Do not use what was written."
        case .makeRoom: "Make room and run it again; what is here is kept."
        case .minFree: "{0} stay free; --min-free changes that."
        case .startAnew: "Start the download anew; a part file that is still there is found by its URL."
        case .updateFerry: "Update Ferry."
        case .useListed: "Use the listed one, or add another one on purpose."
        case .giveBinary: "Install ferry, or name its path in FERRY_BINARY."
        }
    }
}
