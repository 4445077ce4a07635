#if os(Linux)
    import Foundation
    import Testing

    @testable import FerryFleet

    #if canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    @Suite("PostgresLink", .timeLimit(.minutes(5))) struct PostgresLinkTests {
        /// Whether a thread of a link runs in this process.
        private func hasThread() throws -> Bool {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").contains { task in
                (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) == "ferry.postgres\n"
            }
        }

        @Test("A call on a link whose thread has ended writes to no file that was opened since")
        func lateCalls() async throws {
            let link = try PostgresLink(to: DatabaseAddress("postgres://nobody@127.0.0.1:1/none"), as: "test")
            // The thread has begun once it has answered.
            await #expect(throws: DatabaseError.self) { try await link.rows("SELECT 1") }
            link.close()
            while try hasThread() { await Task.yield() }
            // They get the lowest numbers that are free.
            let files = (0..<64).map { _ -> Int32 in
                var name = Array("/tmp/ferry-link-XXXXXX".utf8CString)
                let file = mkstemp(&name)
                unlink(name)
                return file
            }
            defer { for file in files { close(file) } }
            link.close()
            await #expect(throws: DatabaseError.self) { try await link.rows("SELECT 1") }
            for file in files {
                var status = stat()
                #expect(fstat(file, &status) == 0)
                #expect(status.st_size == 0)
            }
        }
    }
#endif
