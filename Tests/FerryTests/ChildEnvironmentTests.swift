import Testing

@testable import Ferry

@Suite("ChildEnvironment")
struct ChildEnvironmentTests {
    private static let own = [
        "PATH": "/bin", "HOME": "/h", "USER": "u", "LANG": "de_DE.UTF-8", "LC_ALL": "C", "XDG_RUNTIME_DIR": "/run/u",
        "TMPDIR": "/t", "SSL_CERT_FILE": "/c", "DISPLAY": ":0", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/b",
        "http_proxy": "http://me:pw@proxy:1", "https_proxy": "http://proxy:1", "no_proxy": "localhost",
        "FERRY_SOCKET": "/s", "FERRY_PORT": "1", "FERRY_SESSION": "app", "FERRY_PATH": "/p",
        "AWS_SECRET_ACCESS_KEY": "secret", "GITHUB_TOKEN": "secret", "LD_PRELOAD": "/evil.so", "PATHS": "x", "LC": "x",
        "REQUEST_METHOD": "GET", "": "x", "NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1",
        "LISTEN_PID": "1", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "s",
    ]

    @Test("ChildEnvironment: a daemon gets listed variables, proxies with passwords, and its own settings")
    func daemon() {
        let names = Set(ChildEnvironment.daemon(from: Self.own).keys)
        #expect(
            names == [
                "PATH", "HOME", "USER", "LANG", "LC_ALL", "XDG_RUNTIME_DIR", "TMPDIR", "SSL_CERT_FILE", "DISPLAY",
                "DBUS_SESSION_BUS_ADDRESS", "http_proxy", "https_proxy", "no_proxy", "FERRY_SOCKET", "FERRY_PORT",
            ])
    }

    @Test("ChildEnvironment: a command gets listed variables, proxies without a password, and the daemon's socket")
    func command() {
        let environment = ChildEnvironment.command(from: Self.own)
        #expect(
            Set(environment.keys) == [
                "PATH", "HOME", "USER", "LANG", "LC_ALL", "XDG_RUNTIME_DIR", "TMPDIR", "SSL_CERT_FILE", "DISPLAY",
                "DBUS_SESSION_BUS_ADDRESS", "https_proxy", "no_proxy", "FERRY_SOCKET",
            ])
        #expect(environment["LANG"] == "de_DE.UTF-8")
    }

    @Test("ChildEnvironment: relative paths of the daemon become absolute, since a child may run in another directory")
    func relativePlaces() {
        let own = [
            "FERRY_STATE_DIR": "test", "FERRY_SOCKET": "/s", "FERRY_CONFIG": "", "FERRY_BINARY": "bin/ferry",
            "FERRY_DIRECTORY": "d",
        ]
        let daemon = ChildEnvironment.daemon(from: own, in: "/here")
        #expect(
            daemon == [
                "FERRY_STATE_DIR": "/here/test", "FERRY_SOCKET": "/s", "FERRY_CONFIG": "",
                "FERRY_BINARY": "/here/bin/ferry", "FERRY_DIRECTORY": "d",
            ])
        #expect(ChildEnvironment.command(from: own, in: "/here")["FERRY_STATE_DIR"] == "/here/test")
    }
}
