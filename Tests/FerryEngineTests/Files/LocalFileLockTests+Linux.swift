#if os(Linux)
    import Foundation
    import SystemPackage
    import Testing

    @testable import FerryEngine

    @Suite("File locks")
    struct LocalFileLockTests {
        /// Between fork and exec a child has copies of all descriptors. A part file that was opened again while the
        /// process started another program was once reported as another process's.
        @Test("LocalFileSystem: close() releases the lock although a child process has a copy of the descriptor")
        func copied() throws {
            let directory = try TemporaryDirectory()
            let path = try directory.put("a", [1])
            let file = try LocalFileSystem().open(path, .readWrite)
            #expect(try file.tryLock())
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                Int32($0)
            }
            let own = try #require(
                descriptors.first {
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path.string
                })
            let copy = dup(own)
            defer { close(copy) }
            file.close()
            let again = try LocalFileSystem().open(path, .readWrite)
            #expect(try again.tryLock())
            again.close()
        }
    }
#endif
