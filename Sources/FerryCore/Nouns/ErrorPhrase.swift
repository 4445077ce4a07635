/// A sentence of an error or event with its arguments, available in every language.
package struct ErrorPhrase: Sendable, Hashable {
    package let key: Key
    /// The arguments for `{0}`, `{1}`, … of the sentence: names, paths, numbers, or sentences.
    package let arguments: [Reason]

    package init(_ key: Key, _ arguments: any ReasonConvertible...) {
        self.init(key: key, reasons: arguments.map(\.reason))
    }

    package init(key: Key, arguments: [String]) { self.init(key: key, reasons: arguments.map(\.reason)) }

    init(key: Key, reasons: [Reason]) {
        self.key = key
        arguments = reasons
    }

    /// The sentence; a placeholder without an argument stays as `{0}`.
    package func text(in language: Language) -> String { text(key.pattern(in: language), in: language) }

    /// The sentence for users of an app: names no option of the program `ferry`.
    package func textForApps(in language: Language) -> String {
        let own = SentenceTable.appSuggestions[key].map { language.text(of: $0) }
        return text(own ?? key.pattern(in: language), in: language)
    }

    private func text(_ pattern: String, in language: Language) -> String {
        Self.fill(pattern, with: arguments.map { $0.text(in: language) })
    }

    /// Whether the sentence begins with a word of its own, and not with a name, path or number that fills a placeholder.
    package var beginsWithWord: Bool {
        guard key.pattern(in: .english).utf8.hasPrefix("{0}") else { return true }
        if case .phrase(let inner)? = arguments.first { return inner.beginsWithWord }
        return false
    }

    /// Replaces the placeholders in one pass, so that braces inside an argument stay.
    static func fill(_ pattern: String, with arguments: [String]) -> String {
        var text = ""
        var rest = pattern[...]
        // allow(bytes): patterns are Ferry's own texts.
        while let open = rest.firstIndex(of: "{") {
            text += rest[..<open]
            let afterDigit = rest.index(open, offsetBy: 3, limitedBy: rest.endIndex) ?? rest.endIndex
            let hole = rest[open..<afterDigit]
            if hole.utf8.hasSuffix("}"), let number = hole.dropFirst().first?.wholeNumberValue,
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
    /// The key of a sentence, whose texts are a row of ``SentenceTable``. The raw values are stored and sent, so they
    /// never change.
    package enum Key: String, Sendable, Hashable, CaseIterable {
        // Requests
        case secretsForNobody, unusableOrigin
        case noURL, notChangeable, notAFileURL, unusableHeader, headerForNobody, notAPlainGet
        case manySources, notAPartFile, notAFileName, journalWithoutURL, directoryReadOnly
        case unusableName, emptyName, directoryName, slashInName, backslashInName, zeroInName, hiddenName, longName
        case nameOfRecord
        case unusableIdentifier, sameIdentifier, listedIdentifier, longLabel, longUserInfo
        case unusableListName, keptStream
        case notAChecksum, unknownAlgorithm, notHexadecimal, digitCount
        case proxyType, notAProxy, socksCredentials, noCertificate, noCookie, unusableUserAgent
        case usage
        // Servers
        case answered, unusableAnswer, unusableAnswers, noSourceLeft, asksForCredentials, deadLink, credentialsRefused
        case targetAsksForCredentials
        case gaveUpOnce, gaveUp
        case serverAnswered, serverAnsweredFor, asksForField, unusableList, stalled, slowBody, endedEarly
        // Responses
        case impossibleLength, unasked416, answeredNoFile, severalRanges, noContentRange, impossibleRange, encodedRange
        case lengthsDisagree, unaskedPart, otherStart, unasked304, pageInstead, encodesFile, refusesRange
        case documentInstead, unprovenInstead, otherOnOneConnection
        // File identity
        case noStrongValidator, nothingProves, noRanges, noRangesAnd, noRangesNoValidator, validatorGone, noValidator
        case grew, shrank, sizeChanged, otherSizeUnder, digestChanged, weakTag, tagChanged, dateChanged, oneTag,
            youngDate
        case samplesDiffer, tooLittle
        // Network. The last three are arguments that name the time of a failure.
        case stopped, transportShutDown, failedWith, at, proxyNamed
        case noAddress, nameWithoutAddress, noAddressOfVersion, addressOfOtherVersion, noSuchHost, privateAddress
        case noAnswerInTime, noConnectionInTime, noHandshakeInTime
        case noStatusLine, largeHead, badHeaderLine, badContentLength, badChunkSize
        case connectionRefused, noRoute, networkUnreachable, networkDown, connectTimedOut, connectionReset, brokenPipe
        case noDescriptors, connectionClosed, closedInHandshake, bodyTooShort, unaskedAnswer, unusableHTTP
        case proxyCannotReach, proxyRefuses, proxyAsksForCredentials, proxyClosed, ownProxy
        case beforeAnswer, inHead, beforeBodyEnd
        // TLS
        case tlsCutOff, cutShort, tlsBrokeOff, handshakeBrokeOff, uncheckable, unreadableTrust, otherName, unaskableName
        case untrusted, wantsCertificate, unacceptable, expired, oldTLS, noTLS, noCipher, noTLSSettings, unknownName
        case otherProtocol, certificateExpired, certificateNotYetValid, unknownAuthority, selfSigned
        // Redirects
        case redirectNowhere, severalRedirects, unusableRedirect, unencryptedRedirect, redirectLoop, tooManyRedirects
        case redirectOf
        // Remote files
        case fileTooLarge, fileLargerThan, otherSize, noLength, otherFile, changed, changedInStream, streamBroke,
            keepsChanging,
            cannotGoOn
        case changedWhileRead, readBytesWrong, readsStream, otherThanSaved
        case checksumOfRequest, checksumOfList, checksumOfEarlierRun, checksumOfServer
        case weakProof, wrongDigest, wrongDigestInStream, wrongMessageDigest, notInChecksumList
        case damagedPieces, uncoveredPieces, unusablePieces
        // Local files
        case fileFailed, missing, alreadyThere, emptyFile, damaged, replaced, notRegular, inUse, removedOrReplaced
        case wrongLength, mustNotReplace, noNameLike, completeBut, notAJournal, newerJournal, largeJournal
        case unwritable, unwritableJournal, otherThanDownloaded
        case partDamaged, partReplaced, removedAtOnce, thereAlready, inTheWay, noFreeName, belongsToAnother, noSpace
        case noSpaceBesideReserve, atLeast
        // Sets of files, and files that are verified and repaired
        case notASetPath, sameSetPath, listedTwice, changedHere, emptySet, setAnswered, setLeadsElsewhere, notAnIndex
        case cutPage, pageWithoutEntries, pageWithPassword, pageUnlikeList, cutList, cutManifest, shortList
        case notAList, jsonArray, largeSet, manyDirectories, slowSet, tooManyGone, noSetBase, backupAroundSet,
            backupInSet, setInUse, setChangedMeanwhile, setInItself, longKey, backupOfObjects
        case noManifest, manifestDamaged, manifestShort, syncNotEnded, linksWithQuery, deepSet, noneWanted
        case manifestNotWhole, largeManifest
        case notAKey, namesNotUTF8, largeDirectory, sourceChanged, directoryNotUploaded, stagingIsSource
        case recordNotOurs, downloadedRecord, largeRecord
        case notRepairable, repairWithoutURL, repairInTheWay, setRedirected, unclosedQuote, contentInTheWay
        case noGateway, serveGateway, noSuchDoor, purgeWithoutFiles, notInCache, severalInCache, listGateway
        case fixedInSession
        case noSet, setNotSynced, manySets, setListForSocket, setPlaceTaken, setSource, credentialsInSet
        // Operations of the file system, and their failures
        case open, create, read, write, sync, truncate, lock, link, rename, remove, list, allocate, inspect
        case makeDirectory, syncDirectory, measureSpace, setMode, setTime, setAttribute, getAttribute
        case unsupported, fileEndsEarly, fileIsClosed, leadsOut
        // Ownership of files
        case otherKind, othersFile, usersFile, rootsFile, unnamedUsersFile, severalNames
        case writableByGroup, writableByOthers
        case notOurs, notOursHere, unusablePartHere, noJournal, makeItYours, movedButUnproven
        // Moving files
        case noFileToMove, otherThanFinished, copyDiffers, moveStopped
        // The daemon
        case notAnUpstream, upstreamWithSecrets, secondUpstream, noSuchUser, largeAnswer
        case anotherDaemon, anotherDaemonProcess, noTokenFile, takenPort, closedPort, longSocket, notOurSocket,
            servedSocket,
            notOurDirectory,
            openDirectory
        case closedDescriptor, foreignSocket, socketElsewhere, manySockets, otherSocketPath
        case unreadableSettings, unwrittenSettings, noJSONObject, unusableSetting, noProgram
        case relativePath, relativeToDaemon, noDownload, noneCalled, severalCalled, noToken, unusableDownloadName
        case unusableSession, manySessions
        case relativeCommand, unusableCommand, severalPlaces, placeForSocket, hiddenPlace, longPlace
        case outsidePlace, linkedPlace, notInRange, passwordAlone, otherSession, runsElsewhere
        case noSystemctl, systemctlFailed, unusableUnit, strayDaemon, daemonStays, noLog
        case confinedElsewhere, cannotConfine, noLandlock, confinementLost
        case hostOtherVersion, unusableMessage, fileIsGone, noFileManager
        // Resume data
        case resumeDataEmpty, resumeDataDamaged, resumeDataForeign, resumeDataNewer, resumeDataUsed
        case nothingYet, nothingToResume, partOfAnother, partGone
        case hasBytes, noWholeNumbers, propertyList, noJSON, noObject, otherFormat, noVersion, otherSeal, hasCredentials
        case unknownPlace, beginInstead
        case noText, noNumber, noList, noTexts, noID, noURLInIt, noPartPath, impossibleSizes, impossibleTime
        // The manager
        case wasCancelled, waitWasCancelled, leftAtShutDown, wasShutDown
        // A suspended app
        case isSuspended, activateFirst, staysWithApp, demandsValidator, demandsSpace, systemFailed
        case systemFoundChange, systemBroughtOther
        case demandsRateLimit, demandsHostBudget, demandsProxy, demandsCertificates, demandsInsecure
        case demandsAddressFamily, demandsMirrors, demandsUnencrypted, demandsPublicAddresses, demandsMaxBytes
        case demandsObject, demandsCredentials, demandsCookies, demandsSecrets
        // The manager's list
        case alreadyListed, notListed, nothingLeft, credentialsNotKept, notInThatPriority
        // An action that is not possible in the download's state, which fills the placeholder
        case cannotPause, cannotResume, cannotCancel, cannotRestart, cannotChange, cannotRemove, cannotRead
        case itWaits, itIsDownloading, itIsVerified, itIsPaused, itHasFailed, itIsComplete, itWasCancelled, itIsAStream
        // The daemon
        case daemonNotFound, daemonNotStarted, daemonSilent, daemonAbsent, daemonOtherVersion, daemonUnreadable
        case socketUnsafe, streamStaysHere, waitForDaemonWasCancelled
        // The catalogue
        case listClosed, catalogueOpening, catalogueReading, catalogueEntry, catalogueWriting, catalogueClosing
        case changesForgotten, newerCatalogue, noCatalogue, foreignFile, noFile, openHere, openElsewhere, openInProcess
        case secretsUnread, secretsUnwritten
        // Events
        case tagMatched, dateMatched, samplesMatched, sameFile, weakMatched, noneMatched, readFromStart
        case ifRangeIgnored, comparingSamples, originalLink, onWithMirror, mirrorDropped, mirrorMatched, describedBy
        case onWithOne, oneLeft, severalLeft, askingAgain, partFetchedAgain, connectionBroke, connectionStalled
        case connectionSlow, requestSent, responseReceived, redirected, connectionMade, connectionEnded
        case hostGivenUp, hostIsAbsent, noHostName
        case hostAsksToWait, hostBudgetFull, hostBudgetSpaced, hostBudgetSpent
        case seconds, hostIsFull, openedAnew, memoryLost, checkpointLost, otherNameBegun, journalAlone
        case checksumKept, checksumDropped, mismatchAccepted, joinedForDigest, digestRefuted
        case comparingExisting, otherContent, halfTaken, nothingNoted, doubtfulControl, mayBeHalf, partFits,
            partOfThisURL, partOfOtherName,
            foreignHalf, wouldRestart
        case storedEncoded, contentDigestsLeft, digestsNotKept
        case wasNotSynced, partShortened, partMovedHere, putBack, otherDigest, skipped, wasMovedTo, movedTo
        case publishingCut, publishingLost, unusableAnnouncement, unsyncedFile, otherThanAnnounced, otherDevice
        case neitherPublished, nameTaken, replacedOlder, keptOlder, publishedByLink, publishedByRename, oldNameLeft
        case directoryUnsynced, isAnothersNow, noNetworkAllowed, meteredNotAllowed, constrainedNotAllowed
        case pausedForCrashes
        // URLs
        case urlProblem, urlEmpty, urlScheme, urlHostAfter, urlNoScheme, urlSchemeMeant, urlLongEncoded, urlLong
        case urlControl, urlBackslash, urlNoHost, urlUserText, urlUserControl, urlColons, urlOpenBracket
        case urlAfterBracket, urlPortText, urlPortRange, urlZone, urlBrackets, urlHostText, urlFourNumbers
        case urlLongHost, urlEmptyLabel, urlHostCharacter, urlBucket, urlObjectQuery, urlObjectPath
        // Objects of stores
        case noSuchBucket, noSuchObject, objectDenied, objectNeedsKeys, unknownS3Keys, wrongS3Keys, expiredS3Keys
        case clockIsWrong, otherRegion, archivedObject, storeAnswered, unusableStoreAnswer, notAnObject
        case objectOfServer
        case unusableS3Setting, unsupportedProfile, noSuchProfile, unusableS3Keys, objectRoute
        case uploadGone, objectChanged, uploadsObjects, largeObject, uploadUnknown, uploading, uploadResumed
        case checkS3Keys, setClock, setRegion

        // Suggestions
        case giveLinkOfBegun, orRestart, giveCredentials, giveCredentialsFirst, giveField, giveFreshLink,
            giveTargetLink,
            signInAgain,
            freshLinkOrThis, runAgain, continueWithRest, runAnew,
            giveOwnChecksum,
            giveChecksum, keptMarked, keptMarkedOf,
            doNotUse
        case makeRoom, minFree, startAnew, updateFerry, useListed, giveBinary, getOneFile
        case nameServer, allowPrivate, leaveOutNoPrivate
        case renewCertificate, setDate, giveNameOfCertificate
        case giveAuthority, giveCertificate, writeHTTP, allowDowngrade, allowRedirects, writeProxyCredentials,
            waitForOther,
            waitOrRename,
            moveAway
        case nameLists, useNewer
        case closeFirst, giveAgain
        case listShows, giveMoreOfID, lookAtLog, logWhere
        case samePriority, useRunning, listTokens, stopDaemon, killDaemon, anotherPort, anotherSocket, shorterSocket,
            removeOrChoose,
            closeOrChoose
        case giveDescriptor, listenForFerry, writeObject, correctSetting
        case allowThenRestart, startUnconfined
        case nameSessions, nameDownloads, noShell, choosePlaceBelow, giveInURLs, runByItself, startUserSession
        case waitForSync, syncAgain, syncWhenQuiet
        case restoreManifest, finishOther, overwriteInSet, overwriteOrRepair, changedAtSource
        case moveItAway, newLinkInSet, leaveStrictAway, keptInSet, listWithDigests, giveThatAddress, listForms
        case moveRecord, syncHere, setsShow
    }
}

/// Encoded as a list: the key, then the arguments. Each argument is a text, or such a list if it is a sentence itself.
extension ErrorPhrase: Codable {
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        let word = try container.decode(String.self)
        guard let key = Key(rawValue: word) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "unknown phrase: perhaps of a newer version of Ferry")
        }
        var arguments: [Reason] = []
        while !container.isAtEnd { arguments.append(try container.decode(Reason.self)) }
        self.init(key: key, reasons: arguments)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(key.rawValue)
        for argument in arguments { try container.encode(argument) }
    }
}

extension Reason: Codable {
    package init(from decoder: any Decoder) throws {
        if let words = try? decoder.singleValueContainer().decode(String.self) {
            self = .words(words)
        } else {
            self = .phrase(try ErrorPhrase(from: decoder))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .words(let words): try words.encode(to: encoder)
        case .phrase(let phrase): try phrase.encode(to: encoder)
        case .pattern: try description.encode(to: encoder)
        }
    }
}

/// The reason of an event, or another text for users: either a sentence that is available in every language, or a text
/// that is not translated.
package enum Reason: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// A name, a path, a number, or a text from the system, a library or a server.
    case words(String)
    case phrase(ErrorPhrase)
    /// A text of the command line: English with placeholders, and their arguments. ``SentenceTable/chinesePatterns``
    /// contains its Chinese form.
    case pattern(String, [Reason])

    /// A sentence.
    package init(_ key: ErrorPhrase.Key, _ arguments: any ReasonConvertible...) {
        self = .phrase(ErrorPhrase(key: key, reasons: arguments.map(\.reason)))
    }

    package init(stringLiteral pattern: String) { self = .pattern(pattern, []) }

    package func text(in language: Language) -> String {
        switch self {
        case .words(let words): words
        case .phrase(let phrase): phrase.text(in: language)
        case .pattern(let pattern, let arguments):
            ErrorPhrase.fill(
                language == .english ? pattern : SentenceTable.chinesePatterns[pattern] ?? pattern,
                with: arguments.map { $0.text(in: language) })
        }
    }

    /// The English text.
    package var description: String { text(in: .english) }
}

/// Two reasons are equal if their English texts are equal.
extension Reason: Hashable {
    package static func == (left: Reason, right: Reason) -> Bool { left.description == right.description }
    package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// An argument of a sentence.
package protocol ReasonConvertible: Sendable {
    var reason: Reason { get }
}

extension Reason: ReasonConvertible { package var reason: Reason { self } }
extension String: ReasonConvertible { package var reason: Reason { .words(self) } }
extension ErrorPhrase: ReasonConvertible { package var reason: Reason { .phrase(self) } }

extension Reason {
    /// Collects the pattern of an interpolated text.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pattern = ""
        fileprivate var arguments: [Reason] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { pattern += literal }

        package mutating func appendInterpolation(_ reason: Reason) {
            pattern += "{\(arguments.count)}"
            arguments.append(reason)
        }
        package mutating func appendInterpolation(_ phrase: ErrorPhrase) { appendInterpolation(Reason.phrase(phrase)) }
        package mutating func appendInterpolation(_ text: String) { appendInterpolation(Reason.words(text)) }
        package mutating func appendInterpolation(_ error: TextError) { appendInterpolation(error.whole) }
        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            appendInterpolation(Reason.words(value.description))
        }
    }

    package init(stringInterpolation text: StringInterpolation) { self = .pattern(text.pattern, text.arguments) }

    /// Joins two texts into one pattern.
    package static func + (left: Reason, right: Reason) -> Reason {
        let (first, second) = (left.parts, right.parts)
        let holes = second.arguments.indices.map { "{\($0 + first.arguments.count)}" }
        return .pattern(
            first.pattern + ErrorPhrase.fill(second.pattern, with: holes), first.arguments + second.arguments)
    }

    private var parts: (pattern: String, arguments: [Reason]) {
        switch self {
        case .words(let words): (words, [])
        case .phrase: ("{0}", [self])
        case .pattern(let pattern, let arguments): (pattern, arguments)
        }
    }
}

/// A sentence in every language.
package struct Translations: Codable, Sendable, Hashable {
    package var en: String
    package var zh: String

    package init(en: String, zh: String) {
        self.en = en
        self.zh = zh
    }

    package init(_ text: (Language) -> String) { self.init(en: text(.english), zh: text(.simplifiedChinese)) }
}
