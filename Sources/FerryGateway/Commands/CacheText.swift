import FerryAPI
import FerryCore
import FerryTerminal

/// The output lines of `ferry gateway`.
enum CacheText {
    static func lines(_ usage: GatewayUsage) -> [String] {
        let (bytes, limit) = (ByteText.size(usage.bytes), ByteText.size(usage.limitBytes))
        let first: Reason =
            "\(bytes) of \(limit) in \(usage.files) files, \(usage.unfinished) unfinished, \(usage.inUse) in use"
        var lines = [first.local]
        if let free = usage.freeBytes {
            let second: Reason =
                "\(ByteText.size(free)) free, of which \(ByteText.size(usage.reservedBytes ?? 0)) stay free"
            lines.append(second.local)
        }
        return lines + [PrintableText.escape(usage.directory)]
    }

    /// Returns the identifier of a file without the prefix that all of them share.
    static func identifier(_ id: String) -> String { String(id.dropping(prefix: "gateway-") ?? id[...]) }

    static func line(_ file: GatewayEntry, _ identifiers: ShortIdentifiers) -> String {
        let state = file.state.utf8.elementsEqual("completed".utf8) ? "" : "  " + Reason.pattern(file.state, []).local
        return identifiers.short(identifier(file.id)) + "  " + DisplayWidth.padLeft(ByteText.size(file.bytes), to: 8)
            + "  " + LocalTime.text(file.usedAt) + "  " + file.name + "  " + file.url + state
    }
}
