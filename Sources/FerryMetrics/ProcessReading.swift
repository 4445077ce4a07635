import FerryCore

/// The system resources that this process uses. Reading them blocks the calling thread.
public struct ProcessReading: Sendable, Hashable {
    /// The processor time in user and system mode.
    public var processorSeconds: Double?
    /// The resident memory in bytes.
    public var residentBytes: Double?
    /// The size of the address space in bytes.
    public var virtualBytes: Double?
    /// The number of open file descriptors.
    public var openDescriptors: Int?
    /// The limit on open file descriptors.
    public var mostDescriptors: UInt64?
    /// The number of threads.
    public var threads: Int?
    /// The start time of the process in seconds since 1970.
    public var started: Double?

    /// Creates a reading without values.
    public init() {}

    /// The families of the values that the system reports.
    public var families: [MetricFamily] {
        let all: [(Metric, Double?)] = [
            (.processorSeconds, processorSeconds), (.residentBytes, residentBytes), (.virtualBytes, virtualBytes),
            (.openDescriptors, openDescriptors.map { Double($0) }),
            (.mostDescriptors, mostDescriptors.map { Double($0) }),
            (.threads, threads.map { Double($0) }), (.started, started),
        ]
        return all.compactMap { metric, number in number.map { MetricFamily(metric, $0) } }
    }
}

/// The names are the same as those of the official Prometheus clients.
extension Metric {
    static let processorSeconds = counter(
        "process_cpu_seconds_total", help: "Time on processors, of the user and the system")
    static let residentBytes = gauge("process_resident_memory_bytes", help: "Resident memory")
    static let virtualBytes = gauge("process_virtual_memory_bytes", help: "Virtual memory")
    static let openDescriptors = gauge("process_open_fds", help: "Open file descriptors")
    static let mostDescriptors = gauge("process_max_fds", help: "The largest number of open file descriptors")
    static let threads = gauge("process_threads", help: "Threads of the process")
    static let started = gauge(
        "process_start_time_seconds", help: "The start of the process, in seconds since 1970")

    /// The metrics of a process, in the order of its families.
    static let ofProcess = [
        processorSeconds, residentBytes, virtualBytes, openDescriptors, mostDescriptors, threads, started,
    ]
}
