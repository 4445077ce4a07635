extension TransferMachine {
    /// The known facts about the file, and how the bytes of its responses were joined.
    package struct RemoteFile: Sendable {
        /// The identity according to the primary source.
        package internal(set) var identity: FileIdentity
        package private(set) var representation: Representation?
        /// The weakest join of two responses so far; `nil` while all bytes come from one response.
        package private(set) var weakestJoin: Proof?
        /// The validators of the existing finished file that a 304 response refers to.
        package let finished: FileIdentity?
        /// Whether the held content is an existing file, which is used if samples match and otherwise left unchanged.
        package internal(set) var isExamined = false
        /// Whether the next request is for the whole file, because responses to ranges were unusable.
        var asksWhole = false
        /// The identity of the content that was backed up. A response that is not a new version of that content does
        /// not replace it.
        private(set) var former: FileIdentity?
        /// The validator or digest of another representation, which a response declared while other connections delivered the
        /// current one. A second response with the same value proves that the file has changed; a response with the current
        /// representation disproves it.
        var claim: String?
        private var sawWholeEnd: Bool

        init(identity: FileIdentity, weakestJoin: Proof?, finished: FileIdentity?, isComplete: Bool) {
            self.identity = identity
            self.weakestJoin = weakestJoin
            self.finished = finished
            sawWholeEnd = isComplete
        }

        /// The proof of the complete file, before a digest is compared.
        package var proof: Proof {
            if let weakestJoin { return weakestJoin }
            return sawWholeEnd && representation?.endsByClose != true ? .single : .none
        }

        /// The proof of the finished file that a 304 confirmed.
        package var finishedProof: Proof {
            guard let finished else { return .none }
            return finished.strongTag != nil ? .strong : .weak
        }

        /// The strength of joining parts under the current validators.
        var partStrength: Proof {
            if identity.strongValidator != nil { return .strong }
            return identity.hasValidator ? .weak : .none
        }

        /// Starts with this representation, without partial content.
        mutating func begin(_ representation: Representation) {
            self.representation = representation
            identity = representation.identity
            weakestJoin = nil
            former = nil
        }

        /// Continues with this representation. If it declares no digests, the known ones are kept.
        mutating func goOn(_ representation: Representation) {
            let digests = self.representation?.digests ?? []
            self.representation = representation
            if representation.digests.isEmpty { self.representation?.digests = digests }
        }

        /// Forgets the known facts, because the partial content was backed up.
        mutating func forget() {
            former = identity
            claim = nil
            identity = FileIdentity()
            representation = nil
            weakestJoin = nil
            sawWholeEnd = false
            asksWhole = false
        }

        /// Forgets the identity, because the content is wrong or from another program, and so says nothing about its
        /// replacement.
        mutating func disown() {
            identity = FileIdentity()
            former = nil
        }

        mutating func join(_ proof: Proof) { weakestJoin = min(weakestJoin ?? .strong, proof) }

        /// Records that a response has ended at the end of the file. This proves that the file is complete if all bytes come
        /// from that response.
        mutating func reachedEnd() { if weakestJoin == nil { sawWholeEnd = true } }

        /// Merges new validators into the identity; fields that the server omits keep their old values.
        mutating func adopt(_ new: FileIdentity) {
            let old = identity
            identity = new
            identity.etag = new.etag ?? old.etag
            identity.lastModified = new.lastModified ?? old.lastModified
            // The earlier Date is kept, because Last-Modified does not become a strong validator with age (RFC 9110
            // §8.8.2.2).
            if identity.lastModified == old.lastModified { identity.date = old.date ?? new.date }
            identity.totalBytes = new.totalBytes ?? old.totalBytes
            identity.contentType = new.contentType ?? old.contentType
        }
    }
}
