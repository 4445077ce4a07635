import Ferry
import FerryAPI
import FerryTerminal
import Testing

@Suite("ferry doctor") struct DoctorTests {
    private static let good = DoctorPolicy.Directory(
        isThere: true, isWritable: true, isOurs: true, isOpen: false, isPrivate: true, freeBytes: 50_000_000_000)

    /// Missing, and it cannot be created.
    private static let missing = DoctorPolicy.Directory(
        isThere: false, isWritable: false, isOurs: true, isOpen: false, isPrivate: true, freeBytes: nil)

    private static func directory(_ change: (inout DoctorPolicy.Directory) -> Void) -> DoctorPolicy.Directory {
        var directory = good
        change(&directory)
        return directory
    }

    @Test("DoctorPolicy: each finding has its level, and every problem has advice")
    func findings() throws {
        func socket(_ found: DoctorPolicy.Directory, isServed: Bool = false) -> DoctorCheck {
            DoctorPolicy.socket("/r", found, isServed: isServed)
        }
        let damaged = try #require(DoctorPolicy.list(["/s/catalogue.sqlite.damaged-1"]))
        let greeting = Greeting(version: "1.0", pid: 7, session: "default", boot: "b")
        let cases: [(DoctorCheck, DoctorCheck.Level)] = [
            (DoctorPolicy.openFiles(nil), .ok), (DoctorPolicy.openFiles(1024), .ok),
            (DoctorPolicy.openFiles(256), .warning), (DoctorPolicy.openFiles(20), .problem),
            (DoctorPolicy.downloads("/d", Self.good), .ok),
            (DoctorPolicy.downloads("/d", Self.directory { $0.isThere = false }), .ok),
            (DoctorPolicy.downloads("/d", Self.missing), .problem), (DoctorPolicy.state("/s", Self.missing), .problem),
            (DoctorPolicy.state("/s", Self.directory { $0.isThere = false }), .ok),
            (socket(Self.good), .ok), (socket(Self.missing), .problem),
            (socket(Self.directory { $0.isThere = false }), .ok),
            (socket(Self.directory { $0.isWritable = false }), .problem),
            // A daemon refuses to make its socket in such a directory, but may have inherited one there.
            (socket(Self.directory { $0.isPrivate = false }), .problem),
            (socket(Self.directory { $0.isPrivate = false }, isServed: true), .ok),
            (socket(Self.directory { $0.isOurs = false }), .problem),
            (DoctorPolicy.state("/s", Self.directory { $0.isOurs = false }), .problem),
            (DoctorPolicy.state("/s", Self.directory { $0.freeBytes = 0 }), .problem),
            (DoctorPolicy.state("/s", Self.directory { $0.freeBytes = 2_000_000 }), .warning),
            (DoctorPolicy.state("/s", Self.directory { $0.freeBytes = 16_000_000 }), .ok),
            (DoctorPolicy.downloads("/d", Self.directory { $0.isWritable = false }), .problem),
            (DoctorPolicy.downloads("/d", Self.directory { $0.freeBytes = 999_999_999 }), .warning),
            (DoctorPolicy.state("/s", Self.good), .ok),
            (DoctorPolicy.state("/s", Self.directory { $0.isOpen = true }), .problem),
            (DoctorPolicy.state("/s", Self.directory { $0.isWritable = false }), .problem),
            (DoctorPolicy.daemon("/k", .answers(greeting), version: "1.0"), .ok),
            (DoctorPolicy.daemon("/k", .answers(greeting), version: "1.1"), .warning),
            (DoctorPolicy.daemon("/k", .silent, version: "1.0"), .ok),
            (DoctorPolicy.daemon("/k", .failure(DownloadError(.daemonUnavailable, "x")), version: "1.0"), .problem),
            (DoctorPolicy.proxy([:]), .ok), (DoctorPolicy.proxy(["https_proxy": "http://p:3128"]), .ok),
            (DoctorPolicy.proxy(["https_proxy": "nonsense://"]), .problem),
            (damaged, .warning),
            (DoctorPolicy.certificates("/etc/ssl/cert.pem"), .ok), (DoctorPolicy.certificates(nil), .problem),
        ]
        #expect(DoctorPolicy.list([]) == nil)
        for (check, level) in cases {
            #expect(check.level == level, "\(check)")
            #expect(level == .ok || check.advice != nil || check.name == "daemon", "\(check)")
        }
    }

    @Test("DoctorPolicy: the confinement is reported for a daemon that answers, with the kernel's gaps")
    func confinement() throws {
        var greeting = Greeting(version: "1.0", pid: 7, session: "default", boot: "b")
        #expect(DoctorPolicy.confinement(.silent) == nil)
        #expect(
            DoctorPolicy.confinement(.answers(greeting))?.text == "none: the daemon may write wherever its user may")
        greeting.confinement = ConfinementBody(directories: ["/a", "/b"], gaps: [])
        #expect(
            DoctorPolicy.confinement(.answers(greeting))
                == DoctorCheck("confinement", .ok, "the daemon may write only below /a, /b"))
        greeting.confinement?.gaps = [.truncation, .devices, .signals]
        let check = try #require(DoctorPolicy.confinement(.answers(greeting)))
        #expect(check.level == .warning)
        #expect(check.text.description.contains("cutting files short elsewhere, controlling devices, sending signals"))
        #expect(check.advice != nil)
    }

    @Test("DoctorPolicy: a directory that cannot be created is worded otherwise than an unwritable one")
    func words() {
        #expect(DoctorPolicy.state("/s", Self.missing).text == "/s cannot be created")
        #expect(
            DoctorPolicy.state("/s", Self.directory { $0.isWritable = false }).text == "/s cannot be written to")
    }

    @Test("DoctorReport: a problem is exit code 1, and warnings are exit code 0")
    func codes() {
        let (ok, warning) = (DoctorPolicy.openFiles(nil), DoctorPolicy.openFiles(100))
        #expect(DoctorReport([ok, warning]).exitCode == .done)
        #expect(DoctorReport([ok, DoctorPolicy.certificates(nil)]).exitCode.rawValue == 1)
        #expect(
            DoctorReport([ok, warning]).lines == [
                "ok       open files  no limit",
                "warning  open files  only 100: fewer downloads and connections at a time",
                "                     raise it with ulimit -n",
            ])
    }

    @Test("DoctorPolicy: a proxy's password is not shown")
    func secret() {
        let daemon = DoctorPolicy.proxy(["http_proxy": "http://p:1"], daemon: "http://q:2")
        #expect("\(daemon)".contains("from http_proxy; of the daemon: http://q:2"))
        let check = DoctorPolicy.proxy(["http_proxy": "http://user:hunter2@proxy:1"])
        #expect(!"\(check)".contains("hunter2"))
    }
}
