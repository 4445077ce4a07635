import Configuration
import FerryCore

/// Reads settings by their types: what is given with another one is said, not passed over.
struct SettingsReading {
    let reader: ConfigSnapshotReader

    func int(_ name: String) throws(DownloadError) -> Int? { try value(name, reader.int(forKey: key(name))) }

    func bool(_ name: String) throws(DownloadError) -> Bool? { try value(name, reader.bool(forKey: key(name))) }

    func text(_ name: String) throws(DownloadError) -> String? { try value(name, reader.string(forKey: key(name))) }

    /// Whole numbers too.
    func number(_ name: String) throws(DownloadError) -> Double? {
        try value(name, reader.double(forKey: key(name)) ?? reader.int(forKey: key(name)).map(Double.init))
    }

    /// One text alone is a list of one.
    func texts(_ name: String) throws(DownloadError) -> [String]? {
        try value(name, reader.stringArray(forKey: key(name)) ?? reader.string(forKey: key(name)).map { [$0] })
    }

    private func key(_ name: String) -> ConfigKey { ConfigKey(name) }

    private func value<Value>(_ name: String, _ value: Value?) throws(DownloadError) -> Value? {
        guard value == nil, isGiven(key(name)) else { return value }
        throw DownloadError(.invalidRequest, ErrorPhrase(.unusableSetting, name), recovery: .needsUser)
    }

    /// Whether something is there, of whatever type; an empty variable is nothing.
    private func isGiven(_ key: ConfigKey) -> Bool {
        if let text = reader.string(forKey: key) { return !text.isEmpty }
        // What is in the file and no text: see `SettingsSnapshot`.
        return reader.bytes(forKey: key) != nil
    }
}
