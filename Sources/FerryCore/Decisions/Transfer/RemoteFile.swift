extension TransferMachine {
    /// What is known of the file, and how the bytes of its responses were joined.
    package struct RemoteFile: Sendable {
        /// The identity, as the primary source describes it.
        package internal(set) var identity: FileIdentity
        package private(set) var representation: Representation?
        /// The weakest join of two responses so far; `nil` while all bytes are of one response.
        package private(set) var weakestJoin: Proof?
        /// Validators of the existing finished file that a 304 refers to.
        package let finished: FileIdentity?
        /// The held content is an existing file, which is used if samples match and is left alone otherwise.
        package internal(set) var isExamined = false
        /// The next request asks for the whole file, because the responses to ranges were unusable.
        var asksWhole = false
        /// The identity of the content that was backed up; a response that is not a new version of it does not replace it.
        private(set) var former: FileIdentity?
        /// What a response named that is of another representation, while other connections delivered this one. The next
        /// response that names it proves the change; one of this representation disproves it.
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

        /// The strength of joining parts under the present validators.
        var partStrength: Proof {
            if identity.strongValidator != nil { return .strong }
            return identity.hasValidator ? .weak : .none
        }

        /// Begins with this representation, without partial content.
        mutating func begin(_ representation: Representation) {
            self.representation = representation
            identity = representation.identity
            weakestJoin = nil
            former = nil
        }

        /// Continues with this representation; digests that it omits stay known.
        mutating func goOn(_ representation: Representation) {
            let digests = self.representation?.digests ?? []
            self.representation = representation
            if representation.digests.isEmpty { self.representation?.digests = digests }
        }

        /// Forgets what is known: the partial content was backed up.
        mutating func forget() {
            former = identity
            claim = nil
            identity = FileIdentity()
            representation = nil
            weakestJoin = nil
            sawWholeEnd = false
            asksWhole = false
        }

        /// The content is wrong, or of another program: it tells nothing about what replaces it.
        mutating func disown() {
            identity = FileIdentity()
            former = nil
        }

        mutating func join(_ proof: Proof) { weakestJoin = min(weakestJoin ?? .strong, proof) }

        /// A response has ended where the file does. It proves the file if all bytes are its own.
        mutating func reachedEnd() { if weakestJoin == nil { sawWholeEnd = true } }

        /// Merges new validators into the identity; fields that the server omits keep their old values.
        mutating func adopt(_ new: FileIdentity) {
            let old = identity
            identity = new
            identity.etag = new.etag ?? old.etag
            identity.lastModified = new.lastModified ?? old.lastModified
            // The earlier Date: Last-Modified does not become a strong validator with age (RFC 9110 §8.8.2.2).
            if identity.lastModified == old.lastModified { identity.date = old.date ?? new.date }
            identity.totalBytes = new.totalBytes ?? old.totalBytes
            identity.contentType = new.contentType ?? old.contentType
        }
    }
}
