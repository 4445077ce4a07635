import FerryAPI
import FerryCore
import FerryServerTesting
import Foundation
import Testing

@testable import FerryServer

@Suite("Settings of doors", .timeLimit(.minutes(30))) struct DoorSettingTests {
    private static let port = DoorSetting.port("echoPort", default: 7)
    private static let size = DoorSetting.size("echoSize", default: 1000)
    private static let age = DoorSetting.seconds("echoAge", default: 1.5)
    private static let log = DoorSetting.flag("echoLog")
    private static let place = DoorSetting.directory("echoDirectory")
    private static let word = DoorSetting.text("echoWord") { $0 == "bad" ? "echoWord is bad." : nil }
    private static let users = DoorSetting.texts("echoUsers") { $0.count > 2 ? "echoUsers has too many." : nil }
    private static let all = [port, size, age, log, place, word, users]

    /// What a daemon with the settings reads from these sources.
    private func settings(
        _ file: String, _ environment: [String: String] = [:], _ flags: SettingValues = SettingValues()
    ) throws -> DoorSettings {
        let source = try SettingsSource(
            file: "/nowhere/ferry.json", environment: environment, flags: flags,
            defaults: DaemonSettings(directory: "/d"), doors: Self.all)
        return try source.doorSettings(with: JSONCoding.decode([String: JSONValue].self, from: Data(file.utf8)))
    }

    @Test("DoorSettings: without a value each setting has its default")
    func defaults() throws {
        let settings = try settings(#"{"echoPort": null}"#)
        #expect(settings.whole(Self.port) == 7 && settings.whole(Self.size) == 1000)
        #expect(settings.seconds(Self.age) == .milliseconds(1500) && !settings.flag(Self.log))
        #expect(settings.text(Self.place) == nil && settings.text(Self.word) == nil)
        #expect(settings.texts(Self.users) == [] && settings.directories == [])
    }

    @Test("DoorSettings: an option counts before a variable, and that before the file")
    func order() throws {
        var flags = SettingValues()
        flags.set(Self.port, to: 1)
        flags.set(Self.word, to: nil as String?)
        flags.set(Self.age, to: .seconds(3))
        flags.set(Self.log, to: true)
        let settings = try settings(
            #"{"echoPort": 3, "echoSize": 3, "echoUsers": "a", "echoDirectory": "/g", "echoWord": "file", "echoAge": 9}"#,
            ["FERRY_ECHO_PORT": "2", "FERRY_ECHO_SIZE": "2", "FERRY_ECHO_USERS": "b, c"], flags)
        #expect(settings.whole(Self.port) == 1 && settings.whole(Self.size) == 2)
        #expect(settings.texts(Self.users) == ["b", "c"] && settings.text(Self.word) == "file")
        #expect(settings.seconds(Self.age) == .seconds(3) && settings.flag(Self.log))
        #expect(settings.directories == ["/g"])
    }

    @Test(
        "DoorSettings: a value of another form or out of bounds is refused by the setting's name",
        arguments: [
            (#"{"echoPort": 65536}"#, "echoPort must be from 0 to 65535."),
            (#"{"echoPort": true}"#, "echoPort needs a whole number"),
            (#"{"echoSize": -1}"#, "echoSize must be from 0 to 2^62 - 1."),
            (#"{"echoAge": -1}"#, "echoAge must be a number of seconds, 0 or more."),
            (#"{"echoAge": 1e13}"#, "echoAge must be a number of seconds, 0 or more."),
            (#"{"echoLog": 1}"#, "echoLog needs true or false"),
            (#"{"echoDirectory": "here"}"#, "echoDirectory must be absolute."),
            (#"{"echoWord": "bad"}"#, "echoWord is bad."),
            (#"{"echoUsers": ["a", 1]}"#, "echoUsers needs a list of texts"),
            (#"{"echoUsers": ["a", "b", "c"]}"#, "echoUsers has too many."),
        ])
    func refused(file: String, reason: String) {
        #expect {
            try settings(file)
        } throws: { error in
            (error as? DownloadError)?.message == "a setting cannot be used: " + reason
        }
    }

    @Test("Daemon: the settings of a door reach it; without the door they are unknown members")
    func reached() async throws {
        let found = Guarded<Int?>(nil)
        try await DaemonRig.run(settings: #"{"echoPort": 5}"#) { options in
            options.doors = [
                DoorKind(settings: Self.all) { host throws(DownloadError) in
                    found.value = host.settings.whole(Self.port)
                    return nil
                }
            ]
        } _: { rig in
            #expect(found.value == 5)
            #expect(!rig.log.text.contains("members that are not known"))
        }
        try await DaemonRig.run(settings: #"{"echoPort": 5}"#) { rig in
            #expect(rig.log.text.contains("members that are not known"))
        }
    }
}
