import FerryAPI
import FerryAria2
import FerryGateway
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

@Suite("Table of settings", .timeLimit(.minutes(5))) struct SettingTableTests {
    @Test("docs/daemon.md: its table has exactly the settings of daemon and doors, and the defaults of the limits")
    func documented() throws {
        let text = try Repository.text("docs/daemon.md")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: "| member | |"))
        let rows = lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { $0.split(separator: "|") }
        var options = Daemon.Options()
        options.doors = [.aria2, .gateway]
        let names = rows.flatMap { $0[0].matches(of: #/`(\w+)`/#).map { String($0.1) } }
        #expect(Set(names) == Set(Setting.allCases.map(\.rawValue) + options.kinds.flatMap(\.settings).map(\.name)))
        let settings = DaemonSettings(directory: "/d")
        for (name, standard) in [
            ("maxConcurrentDownloads", "\(settings.maxConcurrentDownloads); 1 to \(FerryAPI.mostAtOnce)"),
            ("connectionsPerHost", "\(settings.connectionsPerHost)"),
        ] {
            let row = try #require(rows.first { $0[0].contains("`\(name)`") })
            #expect(row[1].trimmingCharacters(in: .whitespaces) == standard)
        }
    }
}
