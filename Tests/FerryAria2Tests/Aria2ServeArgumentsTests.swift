import ArgumentParser
import FerryCore
import FerryServer
import Testing

@testable import FerryAria2

@Suite("Options of ferry serve for aria2's interface", .timeLimit(.minutes(5))) struct Aria2ServeArgumentsTests {
    private func values(_ words: String..., over others: SettingValues = SettingValues()) throws -> SettingValues {
        var values = others
        try Aria2ServeArguments.parse(words).set(&values)
        return values
    }

    @Test("Options: each sets its setting, and none that is not given")
    func given() throws {
        #expect(try values() == SettingValues())
        let port = try values("--aria2-rpc", "0")
        #expect(port[.aria2Rpc] == .whole(0) && port[.aria2Secret] == nil && port[.aria2AllowedOrigins] == nil)
        let more = try values(
            "--aria2-allow-origin", "http://a", "--aria2-allow-origin", "null", "--aria2-secret", "s", over: port)
        #expect(more[.aria2Rpc] == .whole(0) && more[.aria2Secret] == .text("s"))
        #expect(more[.aria2AllowedOrigins] == .list(["http://a", "null"]))
    }

    @Test("Options: the file of a token is absolute, whatever directory the daemon runs in")
    func file() throws {
        #expect(try values("--aria2-secret", "@/a/b")[.aria2Secret] == .text("@/a/b"))
        let path = try #require(try values("--aria2-secret", "@b")[.aria2Secret]?.string)
        #expect(path.hasPrefix("@/") && path.hasSuffix("/b"))
    }
}
