import FerryCore

/// The exit statuses of aria2c (EXIT STATUS in its manual) that a download over HTTP can have. They are also the error
/// codes of its RPC interface.
enum Aria2ExitStatus: Int32, Sendable, Hashable, CaseIterable {
    case done = 0
    case unknown = 1
    case timeout = 2
    case notFound = 3
    case network = 6
    case unfinished = 7
    case cannotResume = 8
    case diskFull = 9
    case alreadyExists = 13
    case cannotOpen = 15
    case cannotCreate = 16
    case fileError = 17
    case cannotMakeDirectory = 18
    case nameResolution = 19
    case metalink = 20
    case unusableResponse = 22
    case tooManyRedirects = 23
    case unauthorized = 24
    case option = 28
    case overloaded = 29
    case removed = 31
    case checksum = 32

    /// Returns the status for a failed file. The sentence of the error determines it if possible, otherwise its code.
    static func of(_ error: DownloadError) -> Aria2ExitStatus {
        if let phrase = error.phrase, let status = of(phrase) { return status }
        return switch error.code {
        case .network: .network
        case .refused, .tooLarge, .unproven, .freshLink: .unusableResponse
        case .notFound: .notFound
        case .credentials: .unauthorized
        case .remoteChanged, .notResumable: .cannotResume
        case .checksum: .checksum
        case .diskFull: .diskFull
        case .disk: .fileError
        case .conflict, .duplicate: .alreadyExists
        case .invalidRequest: .option
        case .shutDown: .unfinished
        default: .unknown
        }
    }

    /// Returns the status for a sentence, or for the first of its arguments that has one; `nil` if none has.
    private static func of(_ phrase: ErrorPhrase) -> Aria2ExitStatus? {
        if let status = of(phrase.key) { return status }
        if [.serverAnswered, .serverAnsweredFor, .answered, .answeredNoFile, .unusableList].contains(phrase.key) {
            return phrase.arguments.lazy.compactMap { Int($0.description).flatMap(of(httpStatus:)) }.first
        }
        for case .phrase(let inner) in phrase.arguments { if let status = of(inner) { return status } }
        return nil
    }

    private static func of(_ key: ErrorPhrase.Key) -> Aria2ExitStatus? {
        switch key {
        case .stalled, .slowBody, .noAnswerInTime, .noConnectionInTime, .noHandshakeInTime, .connectTimedOut: .timeout
        case .noSuchHost, .nameWithoutAddress, .noAddress, .noAddressOfVersion: .nameResolution
        // aria2 1.36 has no separate status for these.
        case .connectionRefused, .connectionReset, .connectionClosed, .bodyTooShort, .untrusted, .unknownAuthority,
            .selfSigned, .otherName, .expired, .certificateExpired,
            .certificateNotYetValid, .unacceptable, .handshakeBrokeOff:
            .unknown
        case .redirectLoop, .tooManyRedirects: .tooManyRedirects
        case .redirectNowhere, .severalRedirects, .unusableRedirect, .unencryptedRedirect: .unusableResponse
        case .otherFile, .cannotGoOn, .noRanges, .noRangesAnd, .noRangesNoValidator: .cannotResume
        case .asksForCredentials, .asksForField, .credentialsRefused, .targetAsksForCredentials,
            .proxyAsksForCredentials:
            .unauthorized
        case .directoryReadOnly, .makeDirectory: .cannotMakeDirectory
        case .create: .cannotCreate
        case .open: .cannotOpen
        default: nil
        }
    }

    private static func of(httpStatus: Int) -> Aria2ExitStatus? {
        switch httpStatus {
        case 401: .unauthorized
        case 404: .notFound
        case 502, 503, 504: .overloaded
        case 100...599: .unusableResponse
        default: nil
        }
    }
}
