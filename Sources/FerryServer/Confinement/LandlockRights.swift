package import FerryAPI

/// What the kernel's Landlock (landlock(7)) takes from a confined daemon, by the version of its interface. Pure.
///
/// Changes to files are denied but for what a rule allows; reading and the network are left alone.
package struct LandlockRights: Sendable, Hashable {
    /// The rights named `LANDLOCK_ACCESS_FS_…` in linux/landlock.h that change something.
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
        /// Since version 2: links and renames between directories. Version 1 always denies these with EXDEV.
        package static let refer = Access(rawValue: 1 << 13)
        /// Since version 3.
        package static let truncate = Access(rawValue: 1 << 14)
        /// Since version 5.
        package static let controlDevice = Access(rawValue: 1 << 15)
    }

    /// What processes outside the domain are kept from (`LANDLOCK_SCOPE_…`).
    package struct Scope: OptionSet, Sendable, Hashable {
        package let rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }

        package static let abstractSockets = Scope(rawValue: 1 << 0)
        package static let signals = Scope(rawValue: 1 << 1)
    }

    /// Denied where no rule allows it.
    package let handled: Access
    package let scopes: Scope
    /// What this version cannot hold and later ones can.
    package let gaps: [ConfinementBody.Gap]

    /// Returns `nil` for 0: no Landlock.
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

    /// Allowed below each directory, the same for all: a rename may not win a right. No devices, pipes or symbolic links,
    /// which no download needs.
    package var belowDirectory: Access {
        handled.intersection([
            .writeFile, .removeDirectory, .removeFile, .makeDirectory, .makeFile, .makeSocket, .refer, .truncate,
        ])
    }

    /// Allowed on `/dev/null`, where child processes write.
    package var onNull: Access { .writeFile }
}
