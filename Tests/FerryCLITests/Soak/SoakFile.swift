import FerryTesting
import Synchronization

/// A file that a server of a soak has at a path of its own, as it will be once the server's behaviours have passed.
struct SoakFile: Sendable, Hashable {
    var path: String
    var size: Int64 = 300_000
    var seed: UInt64

    var resource: Resource { Resource(size: size, seed: seed) }

    /// Serves the file with a behaviour.
    func serve(on server: OriginServer, _ behaviour: Behaviour = .honest) {
        server.serve(path, resource)
        server.always(path, behaviour)
    }

    func comparison(with path: String) -> DeterministicBytes.FileComparison {
        DeterministicBytes(seed: seed).compare(file: path, size: size)
    }
}

extension Behaviour {
    /// Applies a behaviour to the first requests with GET alone: HEAD is answered rightly, and is not counted.
    static func gets(_ count: Int, _ behaviour: Behaviour) -> Behaviour {
        let counter = Counter()
        return .when({ $0.method == "GET" && counter.next() < count }, behaviour)
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        func next() -> Int {
            count.withLock { count in
                defer { count += 1 }
                return count
            }
        }
    }
}
