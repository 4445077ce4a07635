package import FerryAPI

/// The rights that Landlock (landlock(7)) removes from a confined daemon, by ABI version. Pure.
///
/// Changes to files are denied unless a rule allows them; reading and the network are not restricted.
package struct LandlockRights: Sendable, Hashable {
    /// The `LANDLOCK_ACCESS_FS_…` rights of linux/landlock.h that allow changes.
    package struct Access: OptionSet, Sendable, Hashable {
        package let rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }

        package static let writeFile = Access(rawValue: 1 << 1)
        package static let removeDirectory = Access(rawValue: 1 << 4)
        package static let removeFile = Access(rawValue: 1 << 5)
        package static let makeCharacterDevice = Access(rawValue: 1 << 6)
        package static let makeDirectory = Access(rawValue: 1 << 7)
        package static let makeFile = Access(rawValue: 1 << 8)
        package static let makeSocket = Access(rawValue: 1 << 9)
        package static let makePipe = Access(rawValue: 1 << 10)
        package static let makeBlockDevice = Access(rawValue: 1 << 11)
        package static let makeLink = Access(rawValue: 1 << 12)
        /// Links and renames between directories, since version 2. Version 1 always denies these with EXDEV.
        package static let refer = Access(rawValue: 1 << 13)
        /// Since version 3.
        package static let truncate = Access(rawValue: 1 << 14)
        /// Since version 5.
        package static let controlDevice = Access(rawValue: 1 << 15)
    }

    /// The kinds of isolation from processes outside the Landlock domain (`LANDLOCK_SCOPE_…`).
    package struct Scope: OptionSet, Sendable, Hashable {
        package let rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }

        package static let abstractSockets = Scope(rawValue: 1 << 0)
        package static let signals = Scope(rawValue: 1 << 1)
    }

    /// The rights that are denied unless a rule allows them.
    package let handled: Access
    package let scopes: Scope
    /// The restrictions that this version lacks and later versions have.
    package let gaps: [ConfinementBody.Gap]

    /// Returns `nil` for version 0, which means that Landlock is not available.
    package init?(version: Int) {
        guard version >= 1 else { return nil }
        var handled: Access = [
            .writeFile, .removeDirectory, .removeFile, .makeCharacterDevice, .makeDirectory, .makeFile, .makeSocket,
            .makePipe, .makeBlockDevice, .makeLink,
        ]
        var gaps: [ConfinementBody.Gap] = []
        if version >= 2 { handled.insert(.refer) }
        if version >= 3 { handled.insert(.truncate) } else { gaps.append(.truncation) }
        if version >= 5 { handled.insert(.controlDevice) } else { gaps.append(.devices) }
        if version < 6 { gaps.append(.signals) }
        self.handled = handled
        scopes = version >= 6 ? [.abstractSockets, .signals] : []
        self.gaps = gaps
    }

    /// The rights below each allowed directory. They are the same for all directories, so that a rename cannot gain a right.
    /// Creating devices, pipes and symbolic links is excluded, because no download needs it.
    package var belowDirectory: Access {
        handled.intersection([
            .writeFile, .removeDirectory, .removeFile, .makeDirectory, .makeFile, .makeSocket, .refer, .truncate,
        ])
    }

    /// The rights on `/dev/null`, to which child processes write.
    package var onNull: Access { .writeFile }
}
