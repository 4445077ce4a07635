import FerryAPI
import FerryCore
import Foundation
import HTTPTypes

/// One of every shape, with every member set.
enum ShapeSamples {
    static let date = Date(timeIntervalSince1970: 1_700_000_000.25)
    static let error = DownloadError(
        .network, ErrorPhrase(.noURL), suggestion: ErrorPhrase(.useListed), underlying: "u",
        recovery: .transient(retryAfter: .seconds(3)))

    static func download(_ state: DownloadState = .downloading) -> ListedDownload {
        var download = ListedDownload(
            status: DownloadStatus(
                id: DownloadID(rawValue: "a/b"), state: state,
                progress: progress, name: "n", path: "/d/n"),
            session: "s", url: "http://h/n?q=1", addedAt: date)
        if case .failed = state { download.status.retryAt = date }
        download.directory = "/d"
        download.position = 7
        download.priority = .high
        download.label = "l"
        download.userInfo = ["k": "v"]
        download.validator = "\"e\""
        download.checksum = Checksum(algorithm: .md5, bytes: Array(0..<16))
        download.rateLimit = 10
        download.network = NetworkRule(allowsMetered: true, allowsConstrained: false, allowsPrivate: true)
        download.endedAt = date
        download.onConflict = .skip
        download.notBefore = date
        download.wasAlreadyComplete = true
        download.asOf = 12
        download.handle = handle
        return download
    }

    static var handle: HandleBody {
        HandleBody(
            finished: FinishedDownload(path: "/d/n", totalBytes: 9, proof: .strong),
            request: new.withoutSecrets)
    }

    static let states: [DownloadState] = [
        .waiting(.slot), .waiting(.server(since: date, until: date)), .waiting(.server(since: nil, until: nil)),
        .waiting(.network), .waiting(.retry(at: date)), .waiting(.diskSpace), .waiting(.freshLink),
        .waiting(.credentials),
        .waiting(.notBefore(date)), .downloading, .verifying, .paused, .failed(error),
        .completed(.strong), .cancelled,
    ]

    static let kinds: [DownloadEvent.Kind] = [
        .added(url: "http://h/n"), .started(name: "n", totalBytes: 9),
        .resumed(offset: 1, totalBytes: 9, reason: "r"), .retrying(attempt: 2, delay: .seconds(1), reason: "r"),
        .restarted(reason: "r"), .waiting(.retry(at: date), message: "m"),
        .waiting(.server(since: date, until: date), message: "m"), .note("t"), .paused,
        .completed(FinishedDownload(path: "/d/n", totalBytes: 9, proof: .strong)), .failed(error), .cancelled,
    ]

    /// A sample of each kind that has a reason.
    static let told: [LocalizedEvent] = [
        .resumed(offset: 1, totalBytes: 9, reason: Reason(.tagMatched, "\"s1\"")),
        .resumed(offset: 1, totalBytes: nil, reason: Reason(.readFromStart, Reason(.samplesMatched))),
        .retrying(attempt: 1, delay: .seconds(60), reason: Reason(.serverAnswered, "503")),
        .retrying(
            attempt: 2, delay: .seconds(1),
            reason: Reason(.at, Reason(.connectionReset, "h:443"), Reason(.beforeBodyEnd))),
        .restarted(reason: Reason(.tagChanged, "\"a\"", "\"b\"")),
        .waiting(.network, message: Reason(.noNetworkAllowed)),
        .waiting(.diskSpace, message: Reason(.noSpace, "/d", "1 kB", "9 kB")),
        .note(Reason(.connectionBroke, Reason(.endedEarly))),
        .note(Reason(.connectionStalled, "1024", ErrorPhrase(.seconds, "30.0"))),
        .note(Reason(.movedTo, "/tmp/x")),
        .note(Reason(.otherNameBegun, ErrorPhrase(.inUse, "/d/n.part.ferry"))),
    ]

    static func event(_ kind: DownloadEvent.Kind) -> EventBody {
        EventBody(DownloadEvent(id: DownloadID(rawValue: "a"), date: date, kind: kind, number: 4), session: "s")
    }

    static func event(_ told: LocalizedEvent) -> EventBody {
        EventBody(DownloadEvent(id: DownloadID(rawValue: "a"), date: date, told), session: "s")
    }

    static var detail: DownloadDetail {
        var detail = DownloadDetail(download())
        detail.sources = ["http://h/n"]
        detail.headers = ["X-A"]
        detail.segments = [.init(start: 0, end: 9, state: "running", connection: 1)]
        detail.response = .init(type: "t", finalURL: "http://h/n", lastModified: "x", lacksRanges: true)
        detail.speeds = [1, 2]
        detail.resumesUnproven = true
        detail.queue = .init(before: 2, running: 3, limit: 3)
        (detail.proxy, detail.hasCertificates, detail.insecure) = ("http://p:1", true, true)
        (detail.maxBytes, detail.maxRetries) = (1000, 3)
        return detail
    }

    static let pieces = PieceDigests(algorithm: .md5, pieceBytes: 1, digests: Array(0..<16))!

    /// A sample with all members.
    static var new: DownloadRequest {
        var new = DownloadRequest(
            sources: [(try? DownloadURL("http://h/n"))!], destination: .directory("/d", name: .exact("n")))
        new.id = DownloadID(rawValue: "i")
        new.onConflict = .fail
        new.headers[.accept] = "a"
        new.credentials = Credentials(user: "u", password: "p")
        new.secretsOrigin = Origin("https://h")
        new.checksum = Checksum(algorithm: .md5, bytes: Array(0..<16))
        new.checksumList = (try? DownloadURL("http://h/s"))!
        new.maxConnections = 1
        new.rateLimit = 1
        new.maxBytes = 1
        new.expectedBytes = 1
        new.pieces = pieces
        new.maxRedirects = 1
        new.priority = .high
        new.startsPaused = true
        new.notBefore = date
        new.network = NetworkRule(allowsMetered: true, allowsConstrained: true, allowsPrivate: false)
        new.label = "l"
        new.userInfo = ["a": "b"]
        new.onDuplicate = .fail
        new.trust.strict = true
        new.trust.allowsUnprovenParts = true
        new.trust.resumesUnproven = true
        new.trust.failsOnChange = true
        new.trust.acceptsHTML = true
        new.trust.allowsDowngrade = true
        new.syncsToDisk = false
        new.usesServerTime = false
        new.recordsDigests = true
        new.uploadTo = try? DownloadURL("s3://bucket/prefix/")
        new.connection.proxy = try? ProxyChoice(parsing: "http://u:p%40@h:1")
        new.connection.certificates = "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n"
        new.connection.insecure = true
        new.connection.addressFamily = .v6
        new.connection.connectTimeout = .milliseconds(1500)
        new.connection.userAgent = "a"
        new.connection.cookies = CookieJar(netscapeFile: "h\tFALSE\t/\tFALSE\t0\ta\tb\n")
        new.stallTimeout = .seconds(1)
        new.minSpeed = 0
        new.maxRetries = 0
        new.minFreeBytes = 0
        return new
    }

    static func new(to destination: DownloadRequest.Destination) -> DownloadRequest {
        var new = new
        new.destination = destination
        return new
    }

    /// A sample with every changeable member.
    static var change: RequestChange {
        var change = RequestChange(from: DownloadRequest(sources: [], destination: .file("")), to: new)
        change.set(Credentials(user: "u", password: "p"))
        return change
    }

    static var settingsChange: SettingsChange {
        var change = SettingsChange()
        change.maxConcurrentDownloads = .set(1)
        change.rateLimit = .set(nil)
        change.connectionsPerHost = .set(1)
        change.allowsMetered = .set(false)
        change.allowsConstrained = .set(nil)
        change.networkAssumption = .set("metered")
        change.retriesFailedAfter = .set(1.5)
        change.minFreeBytes = .set(1)
        change.proxy = .set("none")
        change.directory = "/d"
        return change
    }

    static let settings: SettingsBody = {
        var settings = SettingsBody(scope: "daemon", directory: "/d")
        settings.maxConcurrentDownloads = 3
        settings.rateLimit = 1
        settings.connectionsPerHost = 2
        settings.allowsMetered = true
        settings.allowsConstrained = false
        settings.networkAssumption = "metered"
        settings.retriesFailedAfter = 1.5
        settings.minFreeBytes = 1
        settings.proxy = "none"
        return settings
    }()
    static let network = NetworkStatus.online
    static let progress = DownloadProgress(
        completedBytes: 5, totalBytes: 9, bytesPerSecond: 2, timeRemaining: .seconds(2), connections: 3,
        bottleneck: bottleneck)
    static let bottleneck = Bottleneck(
        .loss, bytesPerSecond: 2, connections: 3, share: 0.01, seconds: 0.1, windowBytes: 65_536)
    static let plan = DownloadPlan(
        name: "n", redactedURL: "u", redactedRedirects: ["u"], existingPath: "/n", totalBytes: 3, validator: "v",
        digests: [Checksum(algorithm: .md5, bytes: Array(0..<16))!],
        contentType: "t", freeBytes: 4, heldBytes: 5)
    static var newSet: NewSet {
        var set = NewSet(url: "http://h/", list: "/l", directory: "/d")
        (set.include, set.exclude, set.depth, set.base) = (["a"], ["b"], 1, "http://h/b/")
        (set.safeNames, set.trustsListing) = (true, true)
        (set.deletesGone, set.maxDelete, set.replacesOthers) = (true, "50%", true)
        return set
    }
    static var fileSet: FileSet {
        var set = FileSet(id: "i", state: .failed, newSet, root: "/", addedAt: date)
        set.endedAt = date
        set.bytesPerSecond = 1
        set.incomplete = [IncompleteFile(path: "p", error: error)]
        (set.problems, set.error, set.until, set.asOf) = (["q"], error, date, 3)
        return set
    }
    static var gatewayUsage: GatewayUsage {
        var usage = GatewayUsage(directory: "/d")
        (usage.freeBytes, usage.reservedBytes) = (2, 1)
        return usage
    }
    static let gatewayEntry = GatewayEntry(
        id: "gateway-0a", name: "a.deb", url: "http://h/a.deb", state: "completed", bytes: 9, checksum: "sha-256=00",
        addedAt: date, usedAt: date, isInUse: true)
    static let confinement = ConfinementBody(directories: ["/d"], gaps: ConfinementBody.Gap.allCases)
    static let token = TokenItem(
        id: "i", name: "Firefox on Linux", madeAt: Date(timeIntervalSince1970: 1_738_314_300),
        lastUsed: Date(timeIntervalSince1970: 1_738_400_700.5), isOwn: true)

    /// One event of each name.
    static var streamed: [StreamEvent] {
        [
            .state(download()), .removed(["a"], asOf: 3), .order(asOf: 4), .happened(event(.paused)),
            .settings(settings), .network(network), .set(fileSet), .ended(event(.cancelled)), .upToDate,
            .progress([.init(id: "a", progress: DownloadProgress(completedBytes: 3))], bytesPerSecond: 2.5),
            .reset(.init(items: [download()], total: 1, settings: settings, network: network)),
        ]
    }

    /// The name of the schema of an event's data.
    static func schema(of name: StreamEvent.Name) -> String {
        name.rawValue.prefix(1).uppercased() + name.rawValue.dropFirst() + "Event"
    }

    /// The samples by the name of their schema.
    static var all: [(String, any Encodable)] {
        var count = ActionCount(0, failures: [ActionFailure("a", error)])
        count.unchanged = ["b"]
        count.downloads = []
        var all: [(String, any Encodable)] = [
            ("Greeting", Greeting(version: "1", pid: 1, session: "s", boot: "b", port: 1)),
            (
                "Greeting",
                Greeting(
                    version: "1", pid: 1, session: "s", boot: "b", confinement: confinement, damagedCatalogue: "/s/c")
            ), ("ConfinementBody", confinement),
            ("Translations", Translations(en: "e", zh: "z")), ("DownloadError", error),
            ("DownloadError", DownloadError(.disk, "m")),
            ("DownloadProgress", progress), ("DownloadProgress", DownloadProgress()),
            ("Bottleneck", bottleneck), ("Bottleneck", Bottleneck(.latency)),
            ("DownloadPage", DownloadPage(items: [], total: 0, asOf: 7)),
            ("DownloadItems", DownloadItems([])), ("DownloadDetail", detail), ("Segment", detail.segments[0]),
            ("QueueBody", detail.queue), ("Response", detail.response), ("Response", DownloadDetail.Response()),
            ("ActionCount", ActionCount(1)), ("ActionCount", count),
            ("ActionFailure", ActionFailure("a", error)), ("EventItems", EventItems([])), ("SettingsBody", settings),
            ("SettingsBody", SettingsBody(scope: "daemon", directory: "/d")),
            ("NetworkStatus", network), ("StatisticsBody", StatisticsBody()),
            ("DownloadPlan", plan), ("DownloadPlan", DownloadPlan(name: "n", redactedURL: "u")),
            ("SessionBody", SessionBody(identifier: "s", directory: "/d", lastEvent: "b-1")),
            ("SessionItems", SessionItems([])),
            ("SignInBody", SignInBody(code: "c", url: "http://127.0.0.1:1/#code=c", file: "/f")),
            ("SignInBody", SignInBody(code: "c", url: nil, file: nil)), ("TokenBody", TokenBody(id: "i", token: "t")),
            ("ContentLinkBody", ContentLinkBody(path: "/p?code=c")),
            ("TokenItem", token), ("TokenItems", TokenItems([token])),
            (
                "Snapshot",
                StreamEvent.Snapshot(items: [], total: 0, settings: settings, network: network, sets: [fileSet])
            ),
            ("FileSet", fileSet), ("FileSetItems", FileSetItems([])), ("SetIncomplete", fileSet.incomplete?[0]),
            ("SetSource", newSet), ("NewSet", newSet),
            ("GatewayUsage", gatewayUsage), ("GatewayEntry", gatewayEntry), ("GatewayItems", GatewayItems([])),
            ("PurgeBody", PurgeBody(words: ["a"], olderThan: 1, all: true)), ("PurgeReport", PurgeReport()),
            ("VerifyReport", VerifyReport()),
            ("StreamProgress", StreamEvent.Progress(id: "a", progress: progress)),
            ("Problem", Problem(error)), ("Problem", Problem(.badRequest)), ("DownloadRequest", new),
            ("DownloadRequest", new(to: .file("/p"))), ("DownloadRequest", new(to: .part("/q.part"))),
            ("PieceDigests", pieces), ("NewDownloads", NewDownloads([new])), ("RequestChange", change),
            ("SettingsChange", settingsChange),
            ("ListPlacement", ListPlacement.first), ("RelocateBody", RelocateBody(directory: "/d")),
            ("AdoptBody", AdoptBody(path: "/p")),
            ("HandleBody", handle),
            ("StorageReport", StorageReport()),
            ("ResumeDataBody", ResumeDataBody(Data([1]))), ("TakenBody", TakenBody(path: "/d/a")),
            ("SelectionBody", SelectionBody(ids: ["a"], words: ["b"])),
            ("RemovalBody", RemovalBody(["a"], words: ["b"], which: .all, deleteFiles: true)),
            ("ChangeBody", ChangeBody(["a"], words: ["b"], change: change)),
            ("MoveBody", MoveBody(["a"], words: ["b"], to: .first)),
            ("ClearBody", ClearBody(.all, deleteFiles: true)), ("AcknowledgeBody", AcknowledgeBody([1])),
            ("CodeBody", CodeBody("c")),
            (
                "SessionRegistration",
                SessionRegistration(identifier: "s", directory: "/d", launchCommand: ["/bin/true"])
            ),
        ]
        for state in states {
            var shown = detail
            shown.download = download(state)
            shown.download.status.pauseReason = .crashes
            all += [("ListedDownload", shown.download), ("DownloadDetail", shown)]
        }
        var problem = Problem(error)
        (problem.instance, problem.index) = ("/p", 1)
        all.append(("Problem", problem))
        for kind in kinds { all.append(("EventBody", event(kind))) }
        for one in told { all.append(("EventBody", event(one))) }
        for one in streamed { all.append((schema(of: one.name), try? JSONValue(one.data()))) }
        return all
    }
}
