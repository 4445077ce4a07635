import FerryCore
import FerryTesting
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Engine over a network on a disk that loses unsynced bytes", .serialized, .timeLimit(.minutes(30)))
struct ModelNetworkTests {
    @Test(
        "Engine: a crash or power cut during several connections resumes from the claims (B2)",
        arguments: [true, false])
    func cut(syncs: Bool) async throws {
        let resource = Resource(size: 24 << 20, seed: 11)
        let rig = ModelRig(resource: resource, syncs: syncs)
        try await withOrigin { server, transport in
            server.serve("/a", resource)
            server.setServerRate(16 << 20)
            let disk = rig.disk()
            disk.record(every: 7)
            let end = try await run(rig, server, transport, on: disk)
            #expect(end.file?.path == ModelRig.path.string, "\(end.outcome)")
            #expect(disk.violations == [])
            #expect(rig.isWhole(ModelRig.path, on: disk))
            server.setServerRate(nil)
            let steps = disk.steps
            var random = SeededGenerator(seed: 1)
            for round in 0..<12 {
                let step = try #require(steps.randomElement(using: &random))
                let seed = UInt64.random(in: 0...(.max), using: &random)
                let found = round % 4 == 0 ? step.crash() : step.powerCut(seed: seed)
                let context: Comment = "round \(round), \(step.name), seed \(seed)"
                #expect(found.violations == [], context)
                let wasPublished = found.image.files.contains(ModelRig.path)
                let end = try await run(rig, server, transport, on: found)
                #expect(end.file != nil, context)
                // Without syncing, the file under the final name may be torn.
                if syncs || !wasPublished, let file = end.file {
                    #expect(rig.isWhole(FilePath(file.path), on: found), context)
                }
                #expect(found.violations == [], context)
            }
        }
    }

    private func run(
        _ rig: ModelRig, _ server: OriginServer, _ transport: HTTPTransport, on disk: ModelDisk
    ) async throws -> Run.End {
        let environment = EngineEnvironment(
            transport: transport, fileSystem: disk, random: { 0 })
        var request = DownloadRequest(sources: [try server.downloadURL("/a")], destination: .directory("/d"))
        request.syncsToDisk = rig.syncs
        var settings = DriverSettings()
        settings.minFreeBytes = 0
        return await Run("a", request, environment, settings, RunContext()).end()
    }
}
