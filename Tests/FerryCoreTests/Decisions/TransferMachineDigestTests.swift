import FerryCore
import Testing

@Suite("TransferMachine: sources with wrong bytes", .timeLimit(.minutes(30)))
struct TransferMachineDigestTests: ScenarioSuite {
    private func server(_ content: Int, _ ranges: ModelOrigin.Ranges = .ignored) -> ModelOrigin {
        origin { ($0.content, $0.ranges) = (content, ranges) }
    }

    @Test("TransferMachine: after a wrong digest, a source that sends no ranges is fetched whole")
    func wholeMirror() {
        for first in [ModelOrigin.Ranges.ignored, .honoured] {
            let (world, outcome) = run(server(2, first), server(1), digest: 1)
            #expect(outcome == .finished, "\(world.events)")
            #expect(world.file.keys.sorted() == [1] && world.restarts == 1)
        }
    }

    @Test("TransferMachine: after a wrong digest, a source whose samples differ comes before one without ranges")
    func comparedFirst() {
        let (world, outcome) = run(server(2), server(3), server(1, .honoured), digest: 1)
        #expect(outcome == .finished, "\(world.events)")
        #expect(world.file.keys.sorted() == [1] && world.restarts == 1)
    }

    @Test("TransferMachine: if no source has the right bytes, each is fetched once and the digest is the error")
    func noneRight() {
        let (world, outcome) = run(server(2), server(3), server(4), digest: 1)
        #expect(code(outcome) == .checksum)
        #expect(world.restarts == 2)
    }

    @Test("TransferMachine: a source with the same samples as a wrong file is not fetched")
    func equalMirror() {
        let (world, outcome) = run(server(2, .honoured), server(2, .honoured), digest: 1)
        #expect(code(outcome) == .checksum)
        #expect(world.restarts == 0)
    }

    @Test(
        "TransferMachine: when the first source dies, one without ranges replaces its bytes only if a digest decides",
        arguments: [true, false])
    func deadFirst(hasDigest: Bool) {
        let (held, file) = heldPart()
        let dead = origin { $0.isDead = true }
        let (world, outcome) = run(
            dead, server(1), held: held, total: 40 << 20, file: file, digest: hasDigest ? 1 : nil)
        #expect((outcome == .finished) == hasDigest, "\(world.events)")
        #expect(world.restarts == (hasDigest ? 1 : 0))
        if !hasDigest { #expect(code(outcome) == .freshLink) }
    }
}
