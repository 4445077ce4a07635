import FerryAPI
import FerryCore
import Foundation
import Testing

@Suite("ReadyLine", .timeLimit(.minutes(5))) struct ReadyLineTests {
    @Test("ReadyLine: the port of a door is a member of its own, and every other member stays what it is")
    func doors() throws {
        let listening = ReadyLine.Listening(
            pid: 7, version: "1", socket: "/s", port: 3377, doors: ["aria2": 6800, "gateway": 3387],
            addresses: ["127.0.0.1:3377"])
        let data = try JSONCoding.encode(ReadyLine.listening(listening))
        let members = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(members["aria2Port"] as? Int == 6800 && members["gatewayPort"] as? Int == 3387)
        #expect(members["port"] as? Int == 3377 && members["metricsPort"] == nil && members["doors"] == nil)
        #expect(try JSONCoding.decode(ReadyLine.self, from: data) == .listening(listening))
    }

    @Test("ReadyLine: without loopback and doors their members are missing")
    func socket() throws {
        let listening = ReadyLine.Listening(pid: 7, version: "1", socket: "/s", port: nil, addresses: [])
        let data = try JSONCoding.encode(ReadyLine.listening(listening))
        let members = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(Set(members.keys) == ["pid", "version", "socket", "addresses"])
        #expect(try JSONCoding.decode(ReadyLine.self, from: data) == .listening(listening))
    }
}
