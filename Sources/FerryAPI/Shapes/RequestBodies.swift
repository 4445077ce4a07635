package import struct Foundation.Data

// Small request and response bodies. Requests refuse unknown members.

/// `POST /downloads/ID/relocate`: the absolute path of the directory to move the files to.
package struct RelocateBody: Codable, Sendable, Hashable {
    package var directory: String
    package init(directory: String) { self.directory = directory }
    enum CodingKeys: String, CodingKey, CaseIterable { case directory }
    package init(from decoder: any Decoder) throws {
        directory = try decoder.members(CodingKeys.self).decode(String.self, forKey: .directory)
    }
}

/// ``FerryCore/ResumeData/data`` in Base64, as a response and as a request.
package struct ResumeDataBody: Codable, Sendable, Hashable {
    package var resumeData: Data
    package init(_ resumeData: Data) { self.resumeData = resumeData }
    enum CodingKeys: String, CodingKey, CaseIterable { case resumeData }
    package init(from decoder: any Decoder) throws {
        resumeData = try decoder.members(CodingKeys.self).decode(Data.self, forKey: .resumeData)
    }
}

/// `POST /downloads/adopt`: the absolute path of a part file or its journal.
package struct AdoptBody: Codable, Sendable, Hashable {
    package var path: String
    package init(path: String) { self.path = path }
    enum CodingKeys: String, CodingKey, CaseIterable { case path }
    package init(from decoder: any Decoder) throws {
        path = try decoder.members(CodingKeys.self).decode(String.self, forKey: .path)
    }
}

/// `GET /storage`: the disk usage of the session's downloads.
package struct StorageBody: Codable, Sendable, Hashable {
    package var partBytes: Int64
    package var finishedBytes: Int64
    /// Part files in the session's directory that do not belong to a listed download.
    package var orphanedParts: [String]
    package var orphanedBytes: Int64

    package init(partBytes: Int64, finishedBytes: Int64, orphanedParts: [String], orphanedBytes: Int64) {
        self.partBytes = partBytes
        self.finishedBytes = finishedBytes
        self.orphanedParts = orphanedParts
        self.orphanedBytes = orphanedBytes
    }
}

/// `POST /downloads/pause`, `…/resume`: these downloads, or all of the session.
package struct SelectionBody: Codable, Sendable, Hashable {
    package var ids: [String]?
    package init(ids: [String]? = nil) { self.ids = ids }
    enum CodingKeys: String, CodingKey, CaseIterable { case ids }
    package init(from decoder: any Decoder) throws {
        ids = try decoder.members(CodingKeys.self).decodeIfPresent([String].self, forKey: .ids)
    }
}

/// `POST /downloads/clear`: the ended downloads to remove from the list.
package struct ClearBody: Codable, Sendable, Hashable {
    package enum Which: String, Codable, Sendable, Hashable, CaseIterable { case completed, failed, cancelled, all }
    package var which: Which
    package var deleteFiles: Bool
    package init(_ which: Which, deleteFiles: Bool = false) {
        self.which = which
        self.deleteFiles = deleteFiles
    }
    enum CodingKeys: String, CodingKey, CaseIterable { case which, deleteFiles }
    package init(from decoder: any Decoder) throws {
        let members = try decoder.members(CodingKeys.self)
        which = try members.decode(Which.self, forKey: .which)
        deleteFiles = try members.decodeIfPresent(Bool.self, forKey: .deleteFiles) ?? false
    }
}

/// `POST /sessions/ID/acknowledge`: the numbers of the events that the app has handled.
package struct AcknowledgeBody: Codable, Sendable, Hashable {
    package var numbers: [Int64]
    package init(_ numbers: [Int64]) { self.numbers = numbers }
    enum CodingKeys: String, CodingKey, CaseIterable { case numbers }
    package init(from decoder: any Decoder) throws {
        numbers = try decoder.members(CodingKeys.self).decode([Int64].self, forKey: .numbers)
    }
}

/// `POST /login`: a one-time code.
package struct CodeBody: Codable, Sendable, Hashable {
    package var code: String
    package init(_ code: String) { self.code = code }
    enum CodingKeys: String, CodingKey, CaseIterable { case code }
    package init(from decoder: any Decoder) throws {
        code = try decoder.members(CodingKeys.self).decode(String.self, forKey: .code)
    }
}

/// The number of downloads that an action on several has changed.
package struct CountBody: Codable, Sendable, Hashable {
    package var changed: Int
    package init(_ changed: Int) { self.changed = changed }
}

/// The download after an action, and whether the action changed anything.
package struct ActionBody: Codable, Sendable, Hashable {
    package var changed: Bool
    package var download: ListedDownload
    package init(changed: Bool, download: ListedDownload) {
        self.changed = changed
        self.download = download
    }
}
