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
    package func text(in language: Language) -> String {
        Self.fill(key.pattern(in: language), with: arguments.map { $0.text(in: language) })
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
    /// The key of a sentence, whose texts are a row of ``SentenceTable``. The raw values are stored and sent, and never
    /// change.
    package enum Key: String, Sendable, Hashable, CaseIterable {
        // Requests
        case secretsForNobody, unusableOrigin
        case noURL, manySources, notAPartFile, notAFileName, journalWithoutURL, directoryReadOnly
        case unusableName, emptyName, directoryName, slashInName, zeroInName, longName
        case unusableIdentifier, sameIdentifier, listedIdentifier, longLabel, longUserInfo
        case unusableListName, keptStream
        case notAChecksum, unknownAlgorithm, notHexadecimal, digitCount
        case proxyType, notAProxy, socksCredentials, noCertificate, noCookie, unusableUserAgent
        // Servers
        case answered, unusableAnswer, unusableAnswers, noSourceLeft, asksForCredentials, deadLink, credentialsRefused
        case gaveUpOnce, gaveUp
        case serverAnswered, unusableList, stalled, endedEarly
        // Responses
        case impossibleLength, unasked416, answeredNoFile, severalRanges, noContentRange, impossibleRange, encodedRange
        case lengthsDisagree, unaskedPart, otherStart, unasked304, pageInstead, encodesFile, refusesRange
        // File identity
        case noStrongValidator, nothingProves, noRanges, noRangesAnd, noRangesNoValidator, validatorGone, noValidator
        case grew, shrank, sizeChanged, digestChanged, weakTag, tagChanged, dateChanged, oneTag, youngDate
        case samplesDiffer, tooLittle
        // Network. The last three are arguments that name the time of a failure.
        case stopped, transportShutDown, failedWith, at, proxyNamed
        case noAddress, nameWithoutAddress, noAddressOfVersion, addressOfOtherVersion, noSuchHost, privateAddress
        case noAnswerInTime, noConnectionInTime, noHandshakeInTime
        case connectionRefused, noRoute, networkUnreachable, networkDown, connectTimedOut, connectionReset, brokenPipe
        case noDescriptors, connectionClosed, closedInHandshake, bodyTooShort, unaskedAnswer, unusableHTTP
        case proxyCannotReach, proxyRefuses, proxyAsksForCredentials, proxyClosed, ownProxy
        case beforeAnswer, inHead, beforeBodyEnd
        // TLS
        case tlsCutOff, tlsBrokeOff, handshakeBrokeOff, uncheckable, unreadableTrust, otherName, unaskableName
        case untrusted, wantsCertificate, unacceptable, expired, oldTLS, noTLS, noCipher, noTLSSettings, unknownName
        case otherProtocol
        // Redirects
        case redirectNowhere, severalRedirects, unusableRedirect, unencryptedRedirect, redirectLoop, tooManyRedirects
        // Remote files
        case fileTooLarge, fileLargerThan, noLength, otherFile, changed, changedInStream, keepsChanging, cannotGoOn
        case checksumOfRequest, checksumOfList, checksumOfEarlierRun, checksumOfServer
        case weakProof, wrongDigest, wrongDigestInStream, wrongMessageDigest, notInChecksumList
        // Local files
        case fileFailed, missing, alreadyThere, emptyFile, damaged, replaced, notRegular, inUse, removedOrReplaced
        case wrongLength, mustNotReplace, noNameLike, completeBut, notAJournal, newerJournal, largeJournal
        case unwritable, unwritableJournal, otherThanDownloaded
        case partDamaged, partReplaced, removedAtOnce, thereAlready, inTheWay, noFreeName, belongsToAnother, noSpace
        case noSpaceBesideReserve
        // Missing features of a file system
        case open, create, read, write, sync, truncate, lock, link, rename, remove, list, allocate, inspect
        case makeDirectory, syncDirectory, measureSpace, setMode, setTime, setAttribute, getAttribute
        case unsupported, fileEndsEarly, fileIsClosed, leadsOut
        // Ownership of files
        case otherKind, othersFile, usersFile, rootsFile, severalNames, writableByGroup, writableByOthers
        case notOurs, notOursHere, makeItYours, movedButUnproven
        // Moving files
        case noFileToMove, otherThanFinished, copyDiffers, moveStopped
        // The daemon
        case anotherDaemon, anotherDaemonProcess, takenPort, closedPort, longSocket, notOurSocket, servedSocket,
            notOurDirectory,
            openDirectory
        case closedDescriptor, unreadableSettings, unwrittenSettings, noJSONObject, unusableSetting, noProgram
        case relativePath, relativeToDaemon, noDownload, noneCalled, severalCalled, noToken, unusableDownloadName
        case unusableSession, manySessions
        case relativeCommand, unusableCommand, severalPlaces, placeForSocket, slashesInName, hiddenPlace, longPlace
        case outsidePlace, linkedPlace, notInRange, passwordAlone, otherSession, runsElsewhere
        case noSystemctl, systemctlFailed, unusableUnit, strayDaemon, daemonStays, noLog
        case confinedElsewhere, cannotConfine, noLandlock, confinementLost
        // Resume data
        case resumeDataEmpty, resumeDataDamaged, resumeDataForeign, resumeDataNewer, resumeDataUsed
        case nothingYet, nothingToResume, partGone
        case hasBytes, noWholeNumbers, propertyList, noJSON, noObject, otherFormat, noVersion, otherSeal, hasCredentials
        case unknownPlace, beginInstead
        case noText, noNumber, noList, noTexts, noID, noURLInIt, noPartPath, impossibleSizes, impossibleTime
        // The manager
        case wasCancelled, waitWasCancelled, leftAtShutDown, wasShutDown
        case alreadyListed, notListed, nothingLeft, credentialsNotKept, notInThatPriority
        // An action that the state, which fills its hole, forbids
        case cannotPause, cannotResume, cannotCancel, cannotRestart, cannotChange
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
        case ifRangeIgnored, comparingSamples, originalLink, onWithMirror, mirrorDropped, mirrorMatched
        case onWithOne, oneLeft, severalLeft, askingAgain, partFetchedAgain, connectionBroke, connectionStalled
        case requestSent, responseReceived, redirected, connectionMade, connectionEnded
        case seconds, hostIsFull, openedAnew, memoryLost, checkpointLost, otherNameBegun, journalAlone
        case checksumKept, checksumDropped, joinedForDigest, digestRefuted
        case comparingExisting, otherContent, halfTaken, mayBeHalf, partFits, foreignHalf, wouldRestart
        case wasNotSynced, partShortened, partMovedHere, putBack, otherDigest, skipped, wasMovedTo, movedTo
        case publishingCut, publishingLost, unusableAnnouncement, unsyncedFile, otherThanAnnounced, otherDevice
        case neitherPublished, nameTaken, replacedOlder, publishedByLink, publishedByRename, oldNameLeft
        case directoryUnsynced, isAnothersNow, noNetworkAllowed, meteredNotAllowed, constrainedNotAllowed
        case pausedForCrashes
        // URLs
        case urlProblem, urlEmpty, urlScheme, urlHostAfter, urlNoScheme, urlSchemeMeant, urlLongEncoded, urlLong
        case urlControl, urlBackslash, urlNoHost, urlUserText, urlUserControl, urlColons, urlOpenBracket
        case urlAfterBracket, urlPortText, urlPortRange, urlZone, urlBrackets, urlHostText, urlFourNumbers
        case urlLongHost, urlEmptyLabel, urlHostCharacter

        // Suggestions
        case leftAsItIs, orRestart, giveCredentials, giveFreshLink, signInAgain, runAgain, giveChecksum, keptMarked,
            doNotUse
        case makeRoom, minFree, startAnew, updateFerry, useListed, giveBinary
        case nameServer, allowPrivate
        case giveAuthority, writeHTTP, allowDowngrade, writeProxyCredentials, waitForOther, moveAway, nameLists,
            useNewer
        case closeFirst, giveAgain
        case listShows, giveMoreOfID, lookAtLog, logWhere
        case useRunning, listTokens, stopDaemon, killDaemon, anotherPort, anotherSocket, shorterSocket, removeOrChoose,
            closeOrChoose
        case giveDescriptor, writeObject
        case allowThenRestart, startUnconfined
        case nameSessions, nameDownloads, noShell, choosePlaceBelow, giveInURLs, runByItself, startUserSession
    }
}
