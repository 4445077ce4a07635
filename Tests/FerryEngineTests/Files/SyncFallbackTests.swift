import Testing

@testable import FerryEngine

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite("Syncs that not every file system has")
struct SyncFallbackTests {
    /// A call that fails with an error, or succeeds with 0; it notes its name.
    private func call(_ name: String, _ failure: Int32, _ log: inout [String]) -> Int32 {
        log.append(name)
        errno = failure
        return failure == 0 ? 0 : -1
    }

    @Test(
        "Sync: what the file system does not support is replaced by the next call",
        arguments: [ENOTSUP, EINVAL, ENOTTY])
    func unsupported(failure: Int32) {
        var log: [String] = []
        let result = LocalFileSystem.firstSupported(
            { call("barrier", failure, &log) }, { call("full", failure, &log) }, { call("plain", 0, &log) })
        #expect(result == 0)
        #expect(log == ["barrier", "full", "plain"])
    }

    @Test(
        "Sync: a supported call is the only one, and its failure is not hidden by another call",
        arguments: [0, EIO, ENOSPC])
    func supported(failure: Int32) {
        var log: [String] = []
        let result = LocalFileSystem.firstSupported({ call("barrier", failure, &log) }, { call("full", 0, &log) })
        #expect(result == (failure == 0 ? 0 : -1))
        #expect(log == ["barrier"])
        #expect(errno == failure)
    }
}
