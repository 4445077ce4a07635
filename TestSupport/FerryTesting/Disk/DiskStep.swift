/// A disk at one step of a run, from which it can go on in any way that a crash allows.
package struct DiskStep: Sendable {
    /// What was done: `write /d/a.part`.
    package let name: String
    package let image: DiskImage
    let rules: WritingRules

    /// A disk as it is now.
    package static func now(of disk: ModelDisk) -> DiskStep {
        DiskStep(name: "now", image: disk.image, rules: disk.rules)
    }

    /// As after `kill -9`: all that was written is there, locks are gone.
    package func crash() -> ModelDisk {
        var rules = rules
        rules.violations = []
        return ModelDisk(continuing: image.crash(), rules: rules)
    }

    /// As after a power cut and a restart: what was not synced is lost as the seed decides.
    package func powerCut(seed: UInt64, names: DiskImage.NameLoss = .inOrder) -> ModelDisk {
        ModelDisk(image.powerCut(seed: seed, names: names), rules: rules.afterRestart)
    }
}
