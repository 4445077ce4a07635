package import FerryCore

/// What a manager gives a run of a download beside the request: what it remembers of it, and what is not its own.
package struct RunContext: Sendable {
    /// The part file, journal or final path of an earlier run: gone on with when the journal there bears this download's
    /// id; else as without.
    package var partPath: String?
    /// What ``DownloadDriver/retries`` said after the last run.
    package var retries: RetryMemory?
    /// What the journal is to say of the download's place in its list; `nil` leaves what is there.
    package var tags: JournalTags?
    /// Whether the journals of this id belong to another download: they are never gone on with.
    package var belongsToAnother: (@Sendable (String) -> Bool)?
    /// A finished file that is there is never the answer: it is fetched again, under the conflict rule. Default false.
    package var ignoresFinished = false
    /// The file that an earlier run of this download published: while it is there unchanged, this run takes its name,
    /// and replaces it when the new file is complete. Default none.
    package var replaces: PublishedFile?
    /// Who is told about publishing.
    package var witness: (any PublishObserving)?
    /// A limit that this run shares with others, beside its own and that of all.
    package var throttle: Throttle?

    package init(
        partPath: String? = nil, retries: RetryMemory? = nil, tags: JournalTags? = nil,
        belongsToAnother: (@Sendable (String) -> Bool)? = nil, ignoresFinished: Bool = false,
        witness: (any PublishObserving)? = nil
    ) {
        self.partPath = partPath
        self.retries = retries
        self.tags = tags
        self.belongsToAnother = belongsToAnother
        self.ignoresFinished = ignoresFinished
        self.witness = witness
    }
}
