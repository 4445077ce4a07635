package import FerryCore
import HTTPTypes

/// The kinds of paths of the hub's API that the gateway distinguishes. Pure.
package enum HubRoute: Sendable, Hashable {
    /// A list of files: `api/KIND/REPOSITORY/tree/REVISION/PATH`.
    case tree
    /// The details of files by path: `api/KIND/REPOSITORY/paths-info/REVISION`, requested with POST.
    case pathsInfo
    case other

    package init(_ rest: Substring) {
        let path = rest.split(at: "?", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        let parts = path.split(at: "/", omittingEmptySubsequences: false)
        // A repository's name has one or two segments.
        guard parts.count > 4, parts[0].hasSameBytes(as: "api"), ["models", "datasets", "spaces"].contains(parts[1]),
            let word = parts[3...].prefix(2).dropLast(parts.count == 5 ? 1 : 0).first(where: {
                ["tree", "paths-info"].contains($0)
            })
        else {
            self = .other
            return
        }
        self = word.hasSameBytes(as: "tree") ? .tree : .pathsInfo
    }
}

/// The path of a file in a repository: `REPOSITORY/resolve/REVISION/FILE`. Pure.
package struct HubPath: Sendable, Hashable {
    package let repository: Substring
    package let file: Substring

    /// Returns `nil` for any other path.
    package init?(_ rest: Substring) {
        guard let path = rest.split(at: "?", maxSplits: 1, omittingEmptySubsequences: false).first else { return nil }
        let parts = path.split(at: "/", omittingEmptySubsequences: false)
        guard let middle = (1...3).first(where: { parts.count > $0 + 2 && parts[$0].hasSameBytes(as: "resolve") }),
            !parts[0].hasSameBytes(as: "api"), parts.allSatisfy({ !$0.isEmpty })
        else { return nil }
        repository = parts[0].base[parts[0].startIndex..<parts[middle - 1].endIndex]
        file = parts[0].base[parts[middle + 2].startIndex..<path.endIndex]
    }

    /// Returns the path of the file in a commit, where its bytes never change; `nil` if `commit` is not a commit hash.
    package func text(at commit: String) -> String? {
        guard commit.utf8.count == 40, commit.utf8.allSatisfy({ PercentEncoding.hexValue($0) != nil }) else {
            return nil
        }
        return "\(repository)/resolve/\(commit)/\(file)"
    }
}

/// The hub's description of a file. Pure.
package struct HubFile: Sendable, Hashable {
    /// The entity tag, with its quotes.
    package let entityTag: String
    /// The digest of a large file.
    package let checksum: Checksum?
    package let size: ByteCount?
    package let commit: String?

    /// Returns `nil` if there is no entity tag, because clients distinguish versions by it.
    package init?(_ head: ResponseHead) {
        func value(_ name: String) -> String? { HTTPField.Name(name).flatMap { head.single($0) } }
        guard let tag = value("X-Linked-Etag") ?? value("ETag") else { return nil }
        let digits = (tag.dropping(prefix: "W/") ?? Substring(tag)).split(at: "\"").first ?? ""
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        entityTag = "\"\(digits)\""
        // The tag of a small file is a Git object ID, which is shorter.
        checksum = digits.utf8.count == 64 ? try? Checksum(parsing: "sha256:\(digits)") : nil
        let length = value("X-Linked-Size") ?? (Self.isStored(head) ? nil : value("Content-Length"))
        size = length.flatMap { ByteCount($0) }.flatMap { $0.isSize ? $0 : nil }
        commit = value("X-Repo-Commit")
    }

    /// Returns a list of files without `xetHash`.
    package static func listing(_ page: JSONValue) -> JSONValue {
        guard let files = page.items else { return page }
        return .list(
            files.map { file in
                guard var members = file.members else { return file }
                members["xetHash"] = nil
                return .object(members)
            })
    }

    /// Whether a response describes a file that is stored elsewhere.
    package static func isStored(_ head: ResponseHead) -> Bool {
        HTTPField.Name("X-Linked-Etag").map { head.headers[$0] != nil } ?? false
    }
}
