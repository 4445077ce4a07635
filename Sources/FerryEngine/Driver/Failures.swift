import FerryCore

/// Words of the layers below become the one error.
extension DownloadError {
    init(_ error: FileError) {
        switch error.kind {
        case .noSpace:
            self.init(
                .diskFull, error.message, suggestion: "Make room and run it again; what is here is kept.",
                recovery: .needsUser)
        case .outOfDescriptors:
            self.init(.disk, error.message, recovery: .transient(retryAfter: nil))
        default:
            self.init(.disk, error.message)
        }
    }

    init(_ error: PartFileError) {
        switch error {
        case .file(let inner): self.init(inner)
        case .locked, .exists:
            self.init(
                .conflict, error.message, suggestion: "Wait for the other one, or choose another name with -o.",
                recovery: .needsUser)
        default: self.init(.disk, error.message)
        }
    }

    init(_ error: JournalError) {
        switch error {
        case .file(let inner): self.init(inner)
        case .locked:
            self.init(
                .conflict, error.message, suggestion: "Wait for the other one, or choose another name with -o.",
                recovery: .needsUser)
        default:
            self.init(
                .disk, error.message,
                suggestion: "Move the part file and its journal away to begin again; nothing was deleted.",
                recovery: .needsUser)
        }
    }

    init(_ error: PublishError) {
        switch error {
        case .file(let inner): self.init(inner)
        case .exists, .blocked, .noFreeName: self.init(.conflict, error.message, recovery: .needsUser)
        case .announcing(let inner as JournalError): self.init(inner)
        case .unsyncedName(_, let inner):
            self.init(inner)
            message = error.message
        default: self.init(.disk, error.message)
        }
    }

    init(_ failure: TransferFailure) {
        let code: DownloadError.Code =
            switch failure.kind {
            case .certificate: .certificate
            case .malformed, .redirect, .downgrade: .refused
            case .cancelled: .cancelled
            case .other: .network
            default: .network
            }
        let suggestion: String? =
            switch failure.kind {
            case .certificate: "Give the authority with --ca-file; --insecure would trust anyone."
            case .downgrade: "--allow-downgrade follows it."
            case .proxy where !failure.isTransient: "Write them as --proxy http://USER:PASSWORD@host:port."
            default: nil
            }
        self.init(
            code, failure.message, suggestion: suggestion,
            recovery: failure.isTransient ? .transient(retryAfter: nil) : .permanent)
    }
}
