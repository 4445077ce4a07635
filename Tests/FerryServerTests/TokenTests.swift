import FerryCore
import Foundation
import Testing

@testable import FerryServer

@Suite("D2: tokens and one-time codes")
struct TokenTests {
    private func directory(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test("a token has 256 random bits, is kept for its user alone, and stays the same")
    func kept() throws {
        try directory { directory in
            let path = directory + "/token"
            let token = try AccessToken.load(path)
            #expect(token.text.utf8.count == 64)
            #expect(AccessToken.random().text != token.text)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try AccessToken.load(path).text == token.text)
        }
    }

    @Test("a token that others could read, or that is too short, is replaced", arguments: [0o644, 0o600])
    func replaced(mode: Int) throws {
        try directory { directory in
            let path = directory + "/token"
            let text = mode == 0o600 ? "abc" : String(repeating: "a", count: 64)
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            #expect(try AccessToken.load(path).text != text)
            let now = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(now == 0o600)
        }
    }

    @Test("only Bearer with the whole token opens")
    func carried() {
        let token = AccessToken.random()
        #expect(token.isCarried(by: ["Bearer \(token.text)"]))
        #expect(token.isCarried(by: ["bearer \(token.text)"]))
        let others = [
            [], [token.text], ["Basic \(token.text)"], ["Bearer \(token.text) "], ["Bearer  \(token.text)"],
            ["Bearer \(token.text.dropLast())"], ["Bearer \(token.text)0"], ["Bearer "], ["Bearer"],
            ["Bearer \(token.text)", "Bearer \(token.text)"], ["Bearer \(AccessToken.random().text)"],
        ]
        for fields in others { #expect(!token.isCarried(by: fields), "\(fields)") }
    }

    @Test("a code is good once, for a minute")
    func codes() {
        let codes = OneTimeCodes()
        let code = codes.make(at: .zero)
        #expect(code.utf8.count == 32)
        #expect(codes.trade("x", at: .seconds(1)) == .wrong)
        #expect(codes.trade(code, at: .seconds(59)) == .good)
        #expect(codes.trade(code, at: .seconds(59)) == .wrong)
        let late = codes.make(at: .zero)
        #expect(codes.trade(late, at: .seconds(60)) == .wrong)
    }

    @Test("who guesses is not listened to for a while, not even with the right code")
    func guessing() {
        let codes = OneTimeCodes()
        let code = codes.make(at: .zero)
        for _ in 0..<OneTimeCodes.mostWrong { #expect(codes.trade("x", at: .zero) == .wrong) }
        #expect(codes.trade(code, at: .seconds(1)) == .tooMany)
        let later = codes.make(at: .seconds(60))
        #expect(codes.trade(later, at: .seconds(61)) == .good)
    }
}
