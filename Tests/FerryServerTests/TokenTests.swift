import FerryAPI
import FerryCore
import Foundation
import Testing

@testable import FerryServer

@Suite("Tokens and one-time codes")
struct TokenTests {
    private func directory(_ body: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    @Test("TokenStore: a token has 256 bits, survives a restart, and is in no file")
    func kept() async throws {
        try await directory { directory in
            let path = directory + "/tokens.json"
            let store = TokenStore(path)
            let first = try await store.make(named: "Firefox on Linux", at: start).grant
            let second = try await store.make(named: "Chrome on Android", at: start + 1).grant
            #expect(first.token.utf8.count == 64)
            #expect(first.token != second.token)
            #expect(first.id != second.id)
            #expect(try mode(path) == 0o600)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            for grant in [first, second] { #expect(!text.contains(grant.token)) }
            let next = TokenStore(path)
            #expect(await next.identify(["Bearer \(first.token)"], at: start + 2) == first.id)
            #expect(await next.identify(["Bearer \(second.token)"], at: start + 2) == second.id)
            let items = next.list(own: first.id, at: start + 3)
            #expect(Set(items.map(\.id)) == [first.id, second.id])
            #expect(items.first { $0.isOwn }?.name == "Firefox on Linux")
        }
    }

    @Test("TokenStore: a file that other users can read or write is not used", arguments: [0o644, 0o620])
    func distrusted(mode: Int) async throws {
        try await directory { directory in
            let path = directory + "/tokens.json"
            let grant = try await TokenStore(path).make(named: "x", at: start).grant
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            #expect(await TokenStore(path).identify(["Bearer \(grant.token)"], at: start) == nil)
        }
    }

    @Test("TokenStore: only one field with Bearer and the whole token identifies a client")
    func carried() async throws {
        try await directory { directory in
            let store = TokenStore(directory + "/tokens.json")
            let token = try await store.make(named: "x", at: start).grant.token
            for text in ["Bearer \(token)", "bearer \(token)"] {
                #expect(await store.identify([text], at: start) != nil)
            }
            let others = [
                [], [token], ["Basic \(token)"], ["Bearer \(token) "], ["Bearer  \(token)"],
                ["Bearer \(token.dropLast())"], ["Bearer \(token)0"], ["Bearer "], ["Bearer"],
                ["Bearer \(token)", "Bearer \(token)"], ["Bearer \(String(repeating: "0", count: 64))"],
            ]
            for fields in others { #expect(await store.identify(fields, at: start) == nil, "\(fields)") }
        }
    }

    @Test("TokenStore: a withdrawn token is refused, also after a restart, and the others stay")
    func withdrawn() async throws {
        try await directory { directory in
            let path = directory + "/tokens.json"
            let store = TokenStore(path)
            let (gone, kept) = (
                try await store.make(named: "a", at: start).grant, try await store.make(named: "b", at: start).grant
            )
            #expect(try await store.withdraw(gone.id))
            #expect(try await !store.withdraw(gone.id))
            for store in [store, TokenStore(path)] {
                #expect(await store.identify(["Bearer \(gone.token)"], at: start) == nil)
                #expect(await store.identify(["Bearer \(kept.token)"], at: start) == kept.id)
            }
        }
    }

    @Test("TokenStore: a withdrawn token is refused even when the file cannot be written")
    func unwritable() async throws {
        try await directory { directory in
            let path = directory + "/deep/tokens.json"
            try FileManager.default.createDirectory(atPath: directory + "/deep", withIntermediateDirectories: true)
            let store = TokenStore(path)
            let grant = try await store.make(named: "a", at: start).grant
            try FileManager.default.removeItem(atPath: directory + "/deep")
            await #expect(throws: DownloadError.self) { try await store.withdraw(grant.id) }
            #expect(await store.identify(["Bearer \(grant.token)"], at: start) == nil)
            await #expect(throws: DownloadError.self) { try await store.make(named: "b", at: start) }
            #expect(store.list(own: nil, at: start) == [])
        }
    }

    @Test("TokenStore: one token beyond the limit withdraws the least recently used one")
    func most() async throws {
        try await directory { directory in
            let store = TokenStore(directory + "/tokens.json")
            var grants: [TokenStore.Grant] = []
            for index in 0..<TokenStore.mostTokens {
                grants.append(try await store.make(named: "\(index)", at: start + Double(index)).grant)
            }
            let later = start + 1000
            #expect(await store.identify(["Bearer \(grants[0].token)"], at: later) != nil)
            let (_, withdrawn) = try await store.make(named: "new", at: later)
            #expect(withdrawn == [grants[1].id])
            #expect(await store.identify(["Bearer \(grants[0].token)"], at: later) != nil)
            #expect(await store.identify(["Bearer \(grants[1].token)"], at: later) == nil)
            #expect(store.list(own: nil, at: later).count == TokenStore.mostTokens)
        }
    }

    @Test("TokenStore: a token expires 30 days after its last use")
    func lifetime() async throws {
        try await directory { directory in
            let path = directory + "/tokens.json"
            let store = TokenStore(path)
            let token = try await store.make(named: "a", at: start).grant.token
            let use = start + TokenStore.lifetime - 1
            #expect(await TokenStore(path).identify(["Bearer \(token)"], at: use) != nil)
            #expect(await TokenStore(path).identify(["Bearer \(token)"], at: use + TokenStore.lifetime - 1) != nil)
            #expect(await TokenStore(path).identify(["Bearer \(token)"], at: use + 3 * TokenStore.lifetime) == nil)
            #expect(TokenStore(path).list(own: nil, at: use + 3 * TokenStore.lifetime) == [])
        }
    }

    @Test("TokenStore: tokens that are made and withdrawn at the same time are all in the file, or not")
    func atOnce() async throws {
        try await directory { directory in
            let path = directory + "/tokens.json"
            let store = TokenStore(path)
            let old = try await withThrowingTaskGroup(of: TokenStore.Grant.self) { group in
                for index in 0..<8 { group.addTask { try await store.make(named: "\(index)", at: start).grant } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let new = try await withThrowingTaskGroup(of: TokenStore.Grant?.self) { group in
                for grant in old {
                    group.addTask {
                        let isWithdrawn = try await store.withdraw(grant.id)
                        #expect(isWithdrawn)
                        return nil
                    }
                    group.addTask { try await store.make(named: "new", at: start).grant }
                }
                return try await group.reduce(into: [TokenStore.Grant]()) { if let grant = $1 { $0.append(grant) } }
            }
            for store in [store, TokenStore(path)] {
                #expect(Set(store.list(own: nil, at: start).map(\.id)) == Set(new.map(\.id)))
                for grant in old { #expect(await store.identify(["Bearer \(grant.token)"], at: start) == nil) }
            }
        }
    }

    @Test("OneTimeCodes: a code is accepted once, within a minute")
    func codes() {
        let codes = OneTimeCodes()
        let code = codes.make(at: .zero).text
        #expect(code.utf8.count == 32)
        #expect(!codes.redeem("x", at: .seconds(1)))
        #expect(codes.redeem(code, at: .seconds(59)))
        #expect(!codes.redeem(code, at: .seconds(59)))
        let late = codes.make(at: .zero).text
        #expect(!codes.redeem(late, at: .seconds(60)))
    }

    @Test("OneTimeCodes: any number of wrong codes leaves the right one valid")
    func guessing() {
        let codes = OneTimeCodes()
        let code = codes.make(at: .zero).text
        for index in 0..<1000 { #expect(!codes.redeem("\(index)", at: .zero)) }
        #expect(codes.redeem(code, at: .seconds(1)))
    }

    @Test("SignInFile: it is private and is deleted when its code is used, expired, displaced or cleared")
    func files() async throws {
        try await directory { directory in
            let codes = OneTimeCodes()
            let place = directory + "/sign-in"
            func make(at now: Duration) throws -> (text: String, path: String) {
                let made = codes.make(at: now) { code in
                    try? SignInFile.make(leadingTo: "http://127.0.0.1:3377/#code=\(code)", in: place)
                }
                return (made.text, try #require(made.file).path)
            }
            func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
            let used = try make(at: .zero)
            #expect(try mode(used.path) == 0o600)
            #expect(try mode(place) == 0o700)
            let text = try String(contentsOfFile: used.path, encoding: .utf8)
            #expect(text.contains("url=http://127.0.0.1:3377/#code=\(used.text)\""))
            #expect(!used.path.contains(used.text))
            #expect(codes.redeem(used.text, at: .seconds(1)))
            #expect(!isThere(used.path))
            let old = try make(at: .zero)
            codes.expire(at: .seconds(60))
            #expect(!isThere(old.path))
            let first = try make(at: .zero)
            for _ in 0..<OneTimeCodes.mostCodes { _ = try make(at: .zero) }
            #expect(!isThere(first.path))
            codes.clear()
            #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
            _ = try make(at: .zero)
            SignInFile.sweep(place)
            #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
        }
    }

    @Test(
        "BrowserName: a known browser and system give the name, or else the agent's own short name",
        arguments: [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0",
                "Edge on Windows"
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0 Mobile Safari/537.36",
                "Chrome on Android"
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
                "Safari on macOS"
            ),
            ("curl/8.5.0", "curl/8.5.0"), ("", "Unknown"), ("\u{1B}[31mred", "Unknown"), ("\u{202E}x", "Unknown"),
            ("a\u{1B}[2Jb", "a"),
        ] as [(String, String)])
    func names(agent: String, name: String) {
        #expect(BrowserName.name(of: agent) == name)
        let long = BrowserName.name(of: String(repeating: "x", count: 9000))
        #expect(long.count == BrowserName.mostCharacters)
    }
}
