import FerryCore

extension FileError.Operation {
    /// The raw value, known in every language.
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
