import FerryCore

/// What this process uses of the system. Blocks: it is read on a file thread.
package struct ProcessReading: Sendable, Hashable {
    package var processorSeconds: Double?
    package var residentBytes: Double?
    package var virtualBytes: Double?
    package var openDescriptors: Int?
    package var mostDescriptors: UInt64?
    package var threads: Int?
    /// Seconds since 1970.
    package var started: Double?

    package init() {}

    /// The families of what the system tells.
    package var families: [MetricFamily] {
        let all: [(Metric, Double?)] = [
            (.processorSeconds, processorSeconds), (.residentBytes, residentBytes), (.virtualBytes, virtualBytes),
            (.openDescriptors, openDescriptors.map { Double($0) }),
            (.mostDescriptors, mostDescriptors.map { Double($0) }),
            (.threads, threads.map { Double($0) }), (.started, started),
        ]
        return all.compactMap { metric, number in number.map { MetricFamily(metric, $0) } }
    }
}
