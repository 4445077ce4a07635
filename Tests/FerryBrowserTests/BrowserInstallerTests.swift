import FerryAPI
import FerryBrowser
import FerryCore
import Foundation
import Testing

@Suite("ferry browser: manifests") struct BrowserInstallerTests {
    private static func inHome(_ body: (String) throws -> Void) throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "ferry-home-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: home) }
        try body(home.path)
    }

    private func installer(_ home: String, _ program: String = "/opt/ferry") -> BrowserInstaller {
        BrowserInstaller(program: program, environment: ["HOME": home])
    }

    @Test(
        "BrowserInstaller: a manifest names the program and Ferry's extension alone, and is removed again",
        arguments: HostBrowser.allCases)
    func manifest(browser: HostBrowser) throws {
        try Self.inHome { home in
            let installer = installer(home)
            #expect(installer.status(of: browser) == .absent)
            try installer.install(browser)
            #expect(installer.status(of: browser) == .installed)
            let path = installer.manifest(of: browser)
            #expect(path.hasPrefix(home + "/") && path.hasSuffix("/ferry.browser.json"))
            let written = try #require(JSONValue(try Data(contentsOf: URL(filePath: path))).members)
            #expect(written["path"] == "/opt/ferry" && written["type"] == "stdio" && written["name"] == "ferry.browser")
            #expect(
                written["allowed_origins"]
                    == (browser.isChromium ? ["chrome-extension://nbaokfogiejebakdlejbefnonifigcef/"] : nil))
            #expect(written["allowed_extensions"] == (browser.isChromium ? nil : ["browser@ferry.invalid"]))
            #expect(self.installer(home, "/usr/bin/ferry").status(of: browser) == .other)
            #expect(try installer.uninstall(browser))
            #expect(try !installer.uninstall(browser))
            #expect(installer.status(of: browser) == .missing)
        }
    }

    @Test(
        "BrowserInstaller: XDG_CONFIG_HOME moves Chromium's manifest, and a program without an absolute path is refused"
    )
    func places() throws {
        try Self.inHome { home in
            let moved = BrowserInstaller(
                program: "/opt/ferry", environment: ["HOME": home, "XDG_CONFIG_HOME": home + "/elsewhere"])
            #if os(Linux)
                #expect(
                    moved.manifest(of: .chromium)
                        == home + "/elsewhere/chromium/NativeMessagingHosts/ferry.browser.json")
                #expect(moved.manifest(of: .firefox) == home + "/.mozilla/native-messaging-hosts/ferry.browser.json")
            #endif
            #expect(throws: (any Error).self) { try installer(home, "ferry").install(.firefox) }
        }
    }

    @Test("HostManifest: the arguments of a browser mean the host, all others are left as they are")
    func command() {
        let origin = "chrome-extension://\(HostManifest.chromiumExtension)/"
        #expect(HostManifest.command([origin, "--parent-window=0"]) == ["browser-host", origin])
        #expect(
            HostManifest.command([
                "/home/u/.mozilla/native-messaging-hosts/ferry.browser.json", "browser@ferry.invalid",
            ])
                == ["browser-host", "browser@ferry.invalid"])
        for arguments in [
            [], ["get", "https://a.example/"], ["/home/u/ferry.browser.json"], ["ferry.browser.json", "x"],
            ["/a/b.json", "x"],
        ] {
            #expect(HostManifest.command(arguments) == arguments)
        }
        #expect(HostManifest.isKnown(origin) && HostManifest.isKnown("browser@ferry.invalid"))
        for other in ["", "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/", "other@ferry.invalid", origin + "x"] {
            #expect(!HostManifest.isKnown(other))
        }
    }
}
