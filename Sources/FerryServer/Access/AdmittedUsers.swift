package import FerryCore

/// The users of this machine whose processes may connect: the daemon's user, root, and the users that a setting adds.
///
/// In a user namespace, the system reports the overflow ID for all users without an ID there. It does not identify a user, so its
/// connections are admitted only if every user is admitted. Pure.
public struct AdmittedUsers: Sendable, Hashable {
    /// The overflow ID, which stands for all users without an ID in this user namespace; `nil` if every user has one.
    private let unmapped: UInt32?
    private let own: UInt32
    private var isEveryone = false
    private var numbers: Set<UInt32> = []
    /// The user IDs that the admitted users may give to processes in their containers (subuid(5)).
    private var subordinates: [Range<UInt32>] = []

    /// Every user of the machine.
    package static let everyone: AdmittedUsers = {
        var users = AdmittedUsers(own: 0, unmapped: nil)
        users.isEveryone = true
        return users
    }()

    /// Admits the daemon's user, and root, who can read that user's secrets anyway.
    package init(own: UInt32, unmapped: UInt32? = UserNamespace.unmapped) {
        (self.own, self.unmapped) = (own, unmapped)
        numbers = [0, own]
    }

    /// Admits the daemon's user, root, and others by name or user ID, all including their containers; `all` admits every user.
    ///
    /// - Parameters:
    ///   - subordinates: The text of `/etc/subuid`.
    ///   - accounts: Looks up user IDs by name, and names by user ID.
    ///
    /// Throws for the name of an unknown user.
    package init(
        own: UInt32, others: [String], subordinates: String, unmapped: UInt32? = UserNamespace.unmapped,
        accounts: any UserAccounts = SystemAccounts()
    ) throws(TextError) {
        self.init(own: own, unmapped: unmapped)
        var owners: Set<String> = ["\(own)"]
        if let name = accounts.name(of: own) { owners.insert(name) }
        for text in others where !text.isEmpty {
            if text.hasSameBytes(as: "all") {
                isEveryone = true
                continue
            }
            guard let number = accounts.number(of: text) ?? UInt32(text), number != .max else {
                throw TextError(ErrorPhrase(.noSuchUser, TextError.quote(text)))
            }
            numbers.insert(number)
            owners.formUnion([text, "\(number)", accounts.name(of: number) ?? text])
        }
        for line in subordinates.split(at: "\n") {
            let fields = line.split(at: ":", omittingEmptySubsequences: false)
            guard fields.count == 3, owners.contains(String(fields[0])), let first = UInt32(fields[1]), first > 0,
                let count = UInt32(fields[2].trimmedText), count > 0, first <= .max - count
            else { continue }
            self.subordinates.append(first..<first + count)
        }
    }

    /// Whether a connection from this peer is served. If the system does not report socket owners, other checks decide. The peer of
    /// a closed connection expects no response.
    package func admits(_ peer: LoopbackPeer) -> Bool {
        if isEveryone { return true }
        switch peer {
        case .user(let number):
            return number != unmapped && (numbers.contains(number) || subordinates.contains { $0.contains(number) })
        case .absent: return false
        case .unknowable: return true
        }
    }

    /// Returns the claimant of an admitted connection's requests, from the user that the system has reported.
    public func claimant(_ user: UInt32?) -> Claimant {
        let hasOthers = isEveryone || !subordinates.isEmpty || !numbers.isSubset(of: [0, own])
        guard let user else { return hasOthers ? .other(nil) : .own }
        return user == own || user == 0 ? .own : .other(user)
    }

    /// Whether the user of each connection must be known.
    var needsPeers: Bool { !isEveryone }
}

/// The accounts of this machine.
package protocol UserAccounts: Sendable {
    func number(of name: String) -> UInt32?
    func name(of number: UInt32) -> String?
}
