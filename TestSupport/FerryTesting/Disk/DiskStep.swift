/// The disk at one step of a run, from which a test continues after any kind of crash.
package struct DiskStep: Sendable {
    /// The operation: `write /d/a.part`.
    package let name: String
    package let image: DiskImage
    let rules: WritingRules

    /// The current state of a disk.
    package static func now(of disk: ModelDisk) -> DiskStep {
        DiskStep(name: "now", image: disk.image, rules: disk.rules)
    }

    /// Returns the disk after `kill -9`: all written data survives, locks are released.
    package func crash() -> ModelDisk {
        var rules = rules
        rules.violations = []
        return ModelDisk(continuing: image.crash(), rules: rules)
    }

    /// Returns the disk after a power cut and a restart: the seed decides which unsynced changes survive.
    package func powerCut(seed: UInt64, names: DiskImage.NameLoss = .inOrder) -> ModelDisk {
        ModelDisk(image.powerCut(seed: seed, names: names), rules: rules.afterRestart)
    }
}
