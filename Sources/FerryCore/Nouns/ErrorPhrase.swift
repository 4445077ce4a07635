/// A sentence that errors say, with what it is about: known in every language.
package struct ErrorPhrase: Sendable, Hashable {
    package let key: Key
    /// What fills `{0}`, `{1}`, … of the sentence: names, paths, numbers, and reasons in English.
    package let arguments: [String]

    package init(_ key: Key, _ arguments: String...) { self.init(key: key, arguments: arguments) }

    package init(key: Key, arguments: [String]) {
        self.key = key
        self.arguments = arguments
    }

    /// The sentence; what an argument is missing for stays as `{0}`.
    package func text(in language: Language) -> String { Self.fill(key.pattern(in: language), with: arguments) }

    /// In one pass, so that braces inside an argument are left alone.
    private static func fill(_ pattern: String, with arguments: [String]) -> String {
        var text = ""
        var rest = pattern[...]
        while let open = rest.firstIndex(of: "{") {
            text += rest[..<open]
            let afterDigit = rest.index(open, offsetBy: 3, limitedBy: rest.endIndex) ?? rest.endIndex
            let hole = rest[open..<afterDigit]
            if hole.hasSuffix("}"), let number = hole.dropFirst().first?.wholeNumberValue,
                arguments.indices.contains(number)
            {
                text += arguments[number]
            } else {
                text += hole
            }
            rest = rest[afterDigit...]
        }
        return text + rest
    }
}

extension ErrorPhrase {
    /// Which sentence it is. The raw values are stored and sent: they do not change.
    package enum Key: String, Sendable, Hashable, CaseIterable {
        // Requests
        case noURL, notAPartFile, notAFileName, journalWithoutURL, directoryReadOnly
        // Servers
        case answered, unusableAnswer, unusableAnswers, noSourceLeft, asksForCredentials, deadLink
        case gaveUpOnce, gaveUp
        // Files on servers
        case fileTooLarge, fileLargerThan, noLength, otherFile, changed, changedInStream, keepsChanging, cannotGoOn
        case weakProof, wrongDigest, wrongDigestInStream, notInChecksumList
        // Files here
        case partDamaged, partReplaced, removedAtOnce, thereAlready, inTheWay, noFreeName, belongsToAnother, noSpace
        // Resume data
        case resumeDataEmpty, resumeDataDamaged, resumeDataForeign, resumeDataNewer, resumeDataUsed
        case nothingYet, nothingToResume, partGone
        // The manager
        case wasCancelled, waitWasCancelled, leftAtShutDown, wasShutDown
        case alreadyListed, notListed, unchangeable, nothingLeft, credentialsNotKept
        // The daemon
        case daemonNotFound, daemonNotStarted, daemonSilent, daemonLost, daemonOtherVersion, daemonUnreadable
        case socketUnsafe, streamStaysHere, waitForDaemonWasCancelled

        // What can be done
        case leftAsItIs, orRestart, giveCredentials, giveFreshLink, runAgain, giveChecksum, keptMarked, doNotUse
        case makeRoom, minFree, startAnew, updateFerry, useListed, giveBinary
    }
}
