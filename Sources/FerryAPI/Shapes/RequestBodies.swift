package import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Data
#else
    package import struct Foundation.Data
#endif

// Small request and response bodies. Requests refuse unknown members.

/// `POST /downloads/ID/relocate`: the absolute path of the directory to move the files to.
package struct RelocateBody: ClientBody, Encodable, Hashable {
    package var directory: String
    package init(directory: String) { self.directory = directory }
    package enum CodingKeys: String, CodingKey, CaseIterable { case directory }
}

/// ``FerryCore/ResumeData/data`` in Base64, as a response and as a request.
package struct ResumeDataBody: ClientBody, Encodable, Hashable {
    package var resumeData: Data
    package init(_ resumeData: Data) { self.resumeData = resumeData }
    package enum CodingKeys: String, CodingKey, CaseIterable { case resumeData }
}

/// `POST /downloads/ID/resume-data`: the absolute path of the download's file, from which the daemon finds the part file. Used
/// by a client that has lost the response to the call that removed the download from the list.
package struct TakenBody: ClientBody, Encodable, Hashable {
    package var path: String?
    package init(path: String? = nil) { self.path = path }
    package enum CodingKeys: String, CodingKey, CaseIterable { case path }
}

/// `POST /downloads/adopt`: the absolute path of a part file or its journal.
package struct AdoptBody: ClientBody, Encodable, Hashable {
    package var path: String
    package init(path: String) { self.path = path }
    package enum CodingKeys: String, CodingKey, CaseIterable { case path }
}

/// `POST /downloads/clear`: the ended downloads to remove from the list.
package struct ClearBody: ClientBody, Encodable, Hashable {
    package var which: ClearFilter
    package var deleteFiles: Bool?
    package init(_ which: ClearFilter, deleteFiles: Bool? = nil) {
        self.which = which
        self.deleteFiles = deleteFiles
    }
    package enum CodingKeys: String, CodingKey, CaseIterable { case which, deleteFiles }
}

/// `POST /sessions/ID/acknowledge`: the numbers of the events that the app has handled.
package struct AcknowledgeBody: ClientBody, Encodable, Hashable {
    package var numbers: [Int64]
    package init(_ numbers: [Int64]) { self.numbers = numbers }
    package enum CodingKeys: String, CodingKey, CaseIterable { case numbers }

    package init(from decoder: any Decoder) throws {
        numbers = try decoder.container(keyedBy: CodingKeys.self).decodeNamed([Int64].self, forKey: .numbers)
    }
}

/// `POST /login`: a one-time code.
package struct CodeBody: ClientBody, Encodable, Hashable {
    package var code: String
    package init(_ code: String) { self.code = code }
    package enum CodingKeys: String, CodingKey, CaseIterable { case code }
}

/// An empty object: `{}`.
package struct NothingBody: ClientBody {
    package enum CodingKeys: CodingKey, CaseIterable {}
}

/// The data that the library's `Download` handle needs in addition to ``ListedDownload``; sent in responses to clients that
/// send ``FerryAPI/handlesHeader``, and in `state` events.
package struct HandleBody: Codable, Sendable, Hashable {
    /// The result of a completed download; `nil` in all other states.
    package var finished: FinishedDownload?
    /// The request with all later changes, without secrets; `nil` when the destination is a stream.
    package var request: DownloadRequest?

    package init(finished: FinishedDownload?, request: DownloadRequest?) {
        self.finished = finished
        self.request = request
    }
}
