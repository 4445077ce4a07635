import FerryTesting
import Foundation
import Testing

@Suite("The binary: files of other users", .serialized, .timeLimit(.minutes(30)))
struct OwnershipProcessTests {
    static let isRoot = geteuid() == 0
    private static let resource = Resource(size: 4_000_000, seed: 71)
    /// Users by number: they need no accounts.
    private static let (ann, bob): (UInt32, UInt32) = (64_101, 64_102)

    private static func become(_ user: UInt32) -> String {
        "umask 022; exec setpriv --reuid=\(user) --regid=\(user) --clear-groups --inh-caps=-all \"$@\""
    }

    /// A directory that all users can write to, as /tmp, where only owners remove files.
    private static func shared(_ place: Workplace) throws -> String {
        let path = place.path("shared")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(chmod(path, 0o1777) == 0)
        #expect(chmod(place.url.path, 0o755) == 0)
        return path
    }

    private static func names(_ directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }

    /// Becomes a user that has no number in its user namespace, as no other user has.
    private static let becomeUnmapped =
        "umask 022; exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all unshare -U \"$@\""

    /// Leaves half a download of this user in a directory.
    private static func leaveHalf(
        _ server: OriginServer, _ place: Workplace, in directory: String, as user: UInt32,
        _ resource: Resource = resource
    ) async throws {
        try await leaveHalf(server, place, in: directory, shell: become(user), resource)
    }

    private static func leaveHalf(
        _ server: OriginServer, _ place: Workplace, in directory: String, shell: String, _ resource: Resource = resource
    ) async throws {
        let gate = Gate()
        server.serve("/tool.sh", resource)
        server.always("/tool.sh", .hold(after: resource.size / 2, gate))
        let process = try FerryProcess(
            ["get", "-x", "1", "--min-free", "0", "-d", directory, server.url("/tool.sh")], in: place,
            error: .terminal(columns: 120, lines: 24), shell: shell)
        await process.waitForTerminal("50.0%")
        process.signal(SIGINT)
        #expect(try await process.outcome().code == 130)
        gate.open()
        server.always("/tool.sh", .honest)
    }

    @Test(
        "ferry get: two users in one directory each resume their own part file and see a note about the other's",
        .enabled(if: isRoot, "only root becomes other users"))
    func twoUsers() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let directory = try Self.shared(place)
            try await Self.leaveHalf(server, place, in: directory, as: Self.bob)
            #expect(Self.names(directory) == ["tool.sh.part", "tool.sh.part.ferry"])
            let arguments = ["get", "-x", "1", "-d", directory, server.url("/tool.sh")]
            // Ann and root use nothing of Bob's files.
            for (user, name) in [(Self.ann, "tool (1).sh"), (0, "tool (2).sh")] {
                let before = server.bodyBytes("/tool.sh")
                let other = try await FerryProcess.run(arguments, in: place, shell: Self.become(user))
                #expect(other.code == 0, "\(other.error)")
                #expect(other.lines == [directory + "/" + name])
                #expect(other.error.contains("belongs to user \(Self.bob)"), "\(other.error)")
                #expect(other.error.contains("named \(name)"), "\(other.error)")
                #expect(server.bodyBytes("/tool.sh") - before == Self.resource.size)
            }
            let before = server.bodyBytes("/tool.sh")
            let own = try await FerryProcess.run(arguments, in: place, shell: Self.become(Self.bob))
            #expect(own.code == 0, "\(own.error)")
            #expect(own.lines == [directory + "/tool.sh"])
            #expect(server.bodyBytes("/tool.sh") - before == Self.resource.size / 2)
            #expect(Self.resource.source.compare(file: directory + "/tool.sh", size: Self.resource.size) == .equal)
        }
    }

    @Test(
        "ferry get: a user without a number in its namespace resumes its own part file, and none of another such user",
        .enabled(if: isRoot, "only root becomes other users"))
    func unmappedUsers() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let directory = try Self.shared(place)
            try await Self.leaveHalf(server, place, in: directory, as: Self.bob)
            let arguments = ["get", "-x", "1", "-d", directory, server.url("/tool.sh")]
            let foreign = try await FerryProcess.run(arguments, in: place, shell: Self.becomeUnmapped)
            #expect(foreign.code == 0, "\(foreign.error)")
            #expect(foreign.lines == [directory + "/tool (1).sh"])
            #expect(foreign.error.contains("belongs to another user"), "\(foreign.error)")
            let own = place.path("shared/own")
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: false)
            #expect(chmod(own, 0o1777) == 0)
            try await Self.leaveHalf(server, place, in: own, shell: Self.becomeUnmapped)
            let before = server.bodyBytes("/tool.sh")
            let resumed = try await FerryProcess.run(
                ["get", "-x", "1", "-d", own, server.url("/tool.sh")], in: place, shell: Self.becomeUnmapped)
            #expect(resumed.code == 0, "\(resumed.error)")
            #expect(resumed.lines == [own + "/tool.sh"])
            #expect(server.bodyBytes("/tool.sh") - before == Self.resource.size / 2)
        }
    }

    @Test(
        "ferry get: as root a user's part file is left alone, and the note suggests a run without sudo",
        .enabled(if: isRoot, "only root becomes other users"))
    func sudo() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let directory = try Self.shared(place)
            try await Self.leaveHalf(server, place, in: directory, as: Self.ann)
            let named = try await FerryProcess.run(["get", directory + "/tool.sh.part"], in: place)
            #expect(named.code != 0)
            #expect(named.error.contains("Ferry runs as root"), "\(named.error)")
            #expect(named.error.contains("without sudo"), "\(named.error)")
            let all = try await FerryProcess.run(["get", directory], in: place)
            #expect(all.code == 9, "\(all.error)")
            #expect(
                all.error.contains("tool.sh.part.ferry is not used: it belongs to user \(Self.ann)"), "\(all.error)")
            #expect(Self.names(directory) == ["tool.sh.part", "tool.sh.part.ferry"])
        }
    }

    @Test(
        "ferry get: a part file and a finished file of another user are not used and not written to",
        .enabled(if: isRoot, "only root gives files away"), arguments: ["tool.sh.part", "tool.sh"])
    func planted(name: String) async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let directory = try Self.shared(place)
            server.serve("/tool.sh", Self.resource)
            let path = directory + "/" + name
            let isPart = name.hasSuffix(".part")
            // The right bytes and the right date, but another owner.
            let bytes = isPart ? [] : Self.resource.bytes(0..<Self.resource.size)
            try Data(bytes).write(to: URL(filePath: path))
            #expect(chmod(path, isPart ? 0o1600 : 0o644) == 0)
            try FileManager.default.setAttributes([.modificationDate: Resource.defaultDate], ofItemAtPath: path)
            #expect(chown(path, Self.bob, Self.bob) == 0)
            #expect(chmod(path, isPart ? 0o1600 : 0o644) == 0)
            let outcome = try await FerryProcess.run(["get", "-d", directory, server.url("/tool.sh")], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines == [directory + "/tool (1).sh"])
            #expect(outcome.error.contains("\(name) is in the way: it belongs to user \(Self.bob)"), "\(outcome.error)")
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(bytes))
        }
    }

    @Test(
        "ferry get: on vfat, where all files have one owner, a part file is resumed",
        .enabled(if: VFATDisk.isPossible, "no right to mount a vfat image, or nothing here reads one"))
    func vfat() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            #expect(chmod(place.url.path, 0o755) == 0)
            let disk = try VFATDisk(in: place)
            defer { disk.unmount() }
            let resource = Resource(size: 900_000, seed: 72)
            try await Self.leaveHalf(server, place, in: disk.path, as: Self.ann, resource)
            #expect(Self.names(disk.path) == ["tool.sh.part", "tool.sh.part.ferry"])
            let attributes = try FileManager.default.attributesOfItem(atPath: disk.path + "/tool.sh.part")
            let owner = try #require(attributes[.ownerAccountID] as? NSNumber).uint32Value
            #expect(owner != Self.ann, "the file system knows owners")
            let before = server.bodyBytes("/tool.sh")
            let outcome = try await FerryProcess.run(
                ["get", "-x", "1", "--min-free", "0", "-d", disk.path, server.url("/tool.sh")], in: place,
                shell: Self.become(Self.ann))
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines == [disk.path + "/tool.sh"])
            #expect(server.bodyBytes("/tool.sh") - before == resource.size / 2)
            #expect(resource.source.compare(file: disk.path + "/tool.sh", size: resource.size) == .equal)
        }
    }
}
