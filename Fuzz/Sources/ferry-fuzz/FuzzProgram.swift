import CLibFuzzer
import FerryFuzzing
import Foundation

/// libFuzzer with the target that `FERRY_FUZZ_TARGET` names; the arguments are libFuzzer's own.
///
/// The target is not an argument because libFuzzer restarts itself with its arguments when it merges.
@main
enum FuzzProgram {
    static let target = FuzzTarget.all.first { $0.name == ProcessInfo.processInfo.environment["FERRY_FUZZ_TARGET"] }

    static func main() {
        guard target != nil else {
            print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
            return
        }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { data, size in
                FuzzProgram.check(Array(UnsafeBufferPointer(start: data, count: size)))
                return 0
            })
    }

    /// Ends the process, as libFuzzer wants it, when a promise is broken.
    static func check(_ input: [UInt8]) {
        do {
            try target?.check(input)
        } catch {
            FileHandle.standardError.write(Data("\nbroken promise of \(target?.name ?? ""): \(error)\n".utf8))
            abort()
        }
    }
}
