import ArgumentParser
import FerryCore
import FerryServer
import Testing

@testable import FerryGateway

@Suite("Options of ferry serve for the gateway", .timeLimit(.minutes(5))) struct GatewayServeArgumentsTests {
    private func values(_ words: String...) throws -> SettingValues {
        var values = SettingValues()
        try GatewayServeArguments.parse(words).set(&values)
        return values
    }

    @Test("Options: each sets its setting, and none that is not given")
    func given() throws {
        #expect(try values() == SettingValues())
        let one = try values("--gateway", "--gateway-port", "0")
        #expect(one[.gateway] == .flag(true) && one[.gatewayPort] == .whole(0) && one[.gatewayLog] == nil)
        let upstreams = try values("--gateway-upstream", "hf=http://a", "--gateway-upstream", "apt=http://b")
        #expect(upstreams[.gatewayUpstreams] == .list(["hf=http://a", "apt=http://b"]))
        #expect(upstreams[.gateway] == nil)
        let more = try values("--gateway-size", "3GB", "--gateway-age", "2d", "--gateway-log")
        #expect(more[.gatewaySize] == .whole(3_000_000_000) && more[.gatewayAge] == .number(172_800))
        #expect(more[.gatewayLog] == .flag(true))
    }

    @Test("Options: users are separated by commas, in one option or in several")
    func users() throws {
        let values = try values("--gateway-users", "_apt, 1001", "--gateway-users", "all")
        #expect(values[.gatewayUsers] == .list(["_apt", "1001", "all"]))
    }
}
