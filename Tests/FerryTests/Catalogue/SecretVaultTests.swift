import FerryCore
import Foundation
import Testing

@testable import Ferry

@Suite("Vaults of secrets", .timeLimit(.minutes(30)))
struct SecretVaultTests {
    enum Kind: CaseIterable { case memory, disk, app }

    private let login = Credentials(user: "me", password: "p\"ß\n")

    private func full() -> Secrets {
        var secrets = Secrets(
            credentials: login, sources: [0: login, 7: Credentials(user: "", password: "")], checksumList: login,
            headers: [StoredHeader(name: "Cookie", value: "a=1"), StoredHeader(name: "Cookie", value: "b=2")])
        secrets.home = Origin("https://a.test:8443")
        secrets.origins = [7: Origin("http://b.test")].compactMapValues(\.self)
        return secrets
    }

    private func vault(_ kind: Kind, _ directory: String) -> any SecretVault {
        switch kind {
        case .memory: SecretMemory()
        case .disk: SecretStore(directory: directory + "/state/secrets")
        case .app:
            StoredSecrets(MemoryStorage(), list: "l", files: SecretStore(directory: directory + "/state/secrets"))
        }
    }

    @Test("SecretVault: secrets under any identifier are kept, replaced, removed and swept", arguments: Kind.allCases)
    func conformance(kind: Kind) async throws {
        try await StoreBench.withDirectory { directory in
            let vault = vault(kind, directory)
            let ids: [DownloadID] = [
                "a", "A", "a/b", "..", ".hidden", "空", "a%2fb", "~x", "x.new", DownloadID(rawValue: long("a")),
                DownloadID(rawValue: long("b")), "",
            ]
            #expect(try await vault.secrets(of: "a") == nil)
            await vault.remove(ids)
            await vault.sweep(keeping: [])
            try await vault.keep([:])
            for id in ids { try await vault.keep([id: Secrets(sources: [id.rawValue.count: login])]) }
            for id in ids {
                #expect(try await vault.secrets(of: id) == Secrets(sources: [id.rawValue.count: login]), "\(id)")
            }
            try await vault.keep(["a": full(), "A": Secrets()])
            #expect(try await vault.secrets(of: "a") == full())
            #expect(try await vault.secrets(of: "A") == nil)
            await vault.remove(["..", "absent"])
            #expect(try await vault.secrets(of: "..") == nil)
            await vault.sweep(keeping: ["a", "空", DownloadID(rawValue: long("b")), "absent"])
            var left: [DownloadID] = []
            for id in ids where try await vault.secrets(of: id) != nil { left.append(id) }
            #expect(left == ["a", "空", DownloadID(rawValue: long("b"))])
        }
    }

    private func long(_ text: String) -> String { String(repeating: text, count: 5000) }

    @Test("StoredSecrets: managers that share the storage of the app leave each other's secrets alone")
    func shared() async throws {
        try await StoreBench.withDirectory { directory in
            let (storage, files) = (MemoryStorage(), SecretStore(directory: directory + "/secrets"))
            let one = StoredSecrets(storage, list: "one", files: files)
            let other = StoredSecrets(storage, list: "one.more", files: files)
            try await one.keep(["a": full()])
            try await other.keep(["a": Secrets(sources: [1: login]), "b": full()])
            #expect(await storage.values.keys.sorted() == ["one.more/a", "one.more/b", "one/a"])
            await one.sweep(keeping: [])
            #expect(try await one.secrets(of: "a") == nil)
            #expect(try await other.secrets(of: "a") == Secrets(sources: [1: login]))
            await other.remove(["a"])
            #expect(await storage.values.keys.sorted() == ["one.more/b"])
        }
    }

    @Test("StoredSecrets: secrets in files move to the storage of the app when they are needed, and never come back")
    func moving() async throws {
        try await StoreBench.withDirectory { directory in
            let (storage, files) = (MemoryStorage(), SecretStore(directory: directory + "/secrets"))
            let vault = StoredSecrets(storage, list: "l", files: files)
            try await files.keep(["a": full(), "b": full(), "c": full(), "d": full()])
            await storage.fail(with: Refusal(hint: "hunter2"))
            await #expect(throws: DownloadError.self) { try await vault.secrets(of: "a") }
            await storage.fail(with: nil)
            #expect(try await vault.secrets(of: "a") == full())
            #expect(try await files.secrets(of: "a") == nil)
            #expect(await storage.values.keys.sorted() == ["l/a"])
            // What is given anew, removed or swept is not looked for in files.
            try await vault.keep(["b": Secrets(sources: [1: login])])
            try await vault.keep(["b": Secrets()])
            await vault.remove(["c"])
            await vault.sweep(keeping: ["a"])
            for id: DownloadID in ["b", "c", "d"] { #expect(try await vault.secrets(of: id) == nil) }
            #expect(try await vault.secrets(of: "a") == full())
        }
    }

    @Test("StoredSecrets: an error of the storage tells its type alone, and a damaged value is asked for again")
    func failures() async throws {
        try await StoreBench.withDirectory { directory in
            let (storage, files) = (MemoryStorage(), SecretStore(directory: directory + "/secrets"))
            let vault = StoredSecrets(storage, list: "l", files: files)
            await storage.fail(with: Refusal(hint: "hunter2"))
            for call in [{ try await vault.keep(["a": full()]) }, { _ = try await vault.secrets(of: "a") }] {
                let error = await #expect(throws: DownloadError.self) { try await call() }
                #expect(error?.code == .disk)
                let said = "\(try #require(error)) \(String(reflecting: error))"
                #expect(said.contains("Refusal") && !said.contains("hunter2"))
            }
            await storage.fail(with: nil)
            for text in ["", "hunter2", "{\"id\":\"a\",\"version\":2}"] {
                try await storage.store(Data(text.utf8), for: "l/a")
                let error = await #expect(throws: DownloadError.self) { try await vault.secrets(of: "a") }
                #expect(error?.code == .credentials && error?.recovery == .needsUser)
                #expect(!"\(String(reflecting: error))".contains("hunter2"))
            }
            // A value under the key of another download.
            try await vault.keep(["b": full()])
            try await storage.store(try #require(await storage.values["l/b"]), for: "l/a")
            #expect(try await vault.secrets(of: "a") == nil)
        }
    }

    private struct Refusal: Error { let hint: String }

    /// The storage of an app, in memory.
    private actor MemoryStorage: SecretStorage {
        private(set) var values: [String: Data] = [:]
        private var failure: (any Error)?

        func fail(with error: (any Error)?) { failure = error }

        func store(_ value: Data, for key: String) throws {
            if let failure { throw failure }
            values[key] = value
        }
        func value(for key: String) throws -> Data? {
            if let failure { throw failure }
            return values[key]
        }
        func removeValue(for key: String) throws { values[key] = nil }
        func keys(withPrefix prefix: String) -> [String] { values.keys.filter { $0.hasPrefix(prefix) } }
    }

    @Test("SecretStore: files are readable by the owner alone and have safe names")
    func files() async throws {
        try await StoreBench.withDirectory { directory in
            let place = directory + "/state/secrets"
            let vault = SecretStore(directory: place)
            try await vault.keep(["../up/空": full(), "b-1_2": full(), "B": full()])
            let names = try FileManager.default.contentsOfDirectory(atPath: place).sorted()
            #expect(names == ["%2e%2e%2fup%2f%e7%a9%ba", "%42", "b-1_2"])
            #expect(try mode(place) == 0o700)
            for name in names { #expect(try mode(place + "/" + name) == 0o600) }
            #expect(try await SecretStore(directory: place).secrets(of: "B") == full())
        }
    }

    @Test("SecretStore: a sweep removes files left by a crash, and keeps foreign files")
    func sweeping() async throws {
        try await StoreBench.withDirectory { directory in
            let vault = SecretStore(directory: directory + "/s")
            try await vault.keep(["a": full(), "b": full()])
            for name in ["a.new", "c", "README.txt"] { try Data().write(to: URL(filePath: directory + "/s/" + name)) }
            await vault.sweep(keeping: ["a"])
            let names = try FileManager.default.contentsOfDirectory(atPath: directory + "/s").sorted()
            #expect(names == ["README.txt", "a"])
        }
    }

    @Test(
        "SecretStore: an unreadable file is an error that contains none of its text",
        arguments: [
            "", "{", "null", "{\"id\":\"a\",\"version\":2}", "{\"id\":\"a\"}", "hunter2",
            "{\"id\":\"a\",\"version\":1,\"credentials\":\"hunter2\"}",
        ])
    func damaged(text: String) async throws {
        try await StoreBench.withDirectory { directory in
            let vault = SecretStore(directory: directory)
            try Data(text.utf8).write(to: URL(filePath: directory + "/a"))
            let error = await #expect(throws: DownloadError.self) { try await vault.secrets(of: "a") }
            #expect(error?.code == .credentials && error?.recovery == .needsUser)
            #expect(!"\(try #require(error)) \(String(reflecting: error))".contains("hunter2"))
        }
    }

    @Test("SecretStore: secrets that could not be read back are refused, and the earlier ones stay")
    func large() async throws {
        try await StoreBench.withDirectory { directory in
            let vault = SecretStore(directory: directory)
            try await vault.keep(["a": full()])
            let large = Secrets(headers: [StoredHeader(name: "X", value: String(repeating: "x", count: 16 << 20))])
            await #expect(throws: DownloadError.self) { try await vault.keep(["a": large]) }
            #expect(try await vault.secrets(of: "a") == full())
        }
    }

    @Test("SecretStore: a file under another download's name gives no secrets")
    func foreignFile() async throws {
        try await StoreBench.withDirectory { directory in
            let vault = SecretStore(directory: directory)
            try await vault.keep(["a": full()])
            try FileManager.default.moveItem(atPath: directory + "/a", toPath: directory + "/b")
            #expect(try await vault.secrets(of: "b") == nil)
        }
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
}
