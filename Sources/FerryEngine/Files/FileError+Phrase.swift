package import FerryCore

extension Ownership.Flaw {
    /// The localizable predicate for a sentence about the file.
    package var phrase: ErrorPhrase {
        switch self {
        case .notRegular: ErrorPhrase(.otherKind)
        case .otherOwner(let owner, user: 0): ErrorPhrase(.usersFile, "\(owner)")
        case .otherOwner(0, let user): ErrorPhrase(.rootsFile, "\(user)")
        case .otherOwner(let owner, let user): ErrorPhrase(.othersFile, "\(owner)", "\(user)")
        case .severalNames(let count): ErrorPhrase(.severalNames, "\(count)")
        case .writableByGroup(let group): ErrorPhrase(.writableByGroup, "\(group)")
        case .writableByOthers: ErrorPhrase(.writableByOthers)
        }
    }
}

extension FileError.Operation {
    /// The key of the operation's localized name.
    var phraseKey: ErrorPhrase.Key {
        switch self {
        case .open: .open
        case .create: .create
        case .read: .read
        case .write: .write
        case .sync: .sync
        case .truncate: .truncate
        case .lock: .lock
        case .link: .link
        case .rename: .rename
        case .remove: .remove
        case .list: .list
        case .allocate: .allocate
        case .inspect: .inspect
        case .makeDirectory: .makeDirectory
        case .syncDirectory: .syncDirectory
        case .measureSpace: .measureSpace
        case .setMode: .setMode
        case .setTime: .setTime
        case .setAttribute: .setAttribute
        case .getAttribute: .getAttribute
        }
    }
}
