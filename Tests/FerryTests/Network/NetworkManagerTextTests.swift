import Testing

@testable import Ferry

/// The texts were printed by busctl of systemd 252 and gdbus of GLib 2.74.
@Suite struct NetworkManagerTextTests {
    @Test(
        arguments: [
            ("u 4\n", .guessNo), ("u 1\n", .yes), ("u 0\n", .unknown), ("v u 3\n", .guessYes), ("u 2", .no),
            ("", nil), ("u", nil), ("u 9\n", nil), ("s \"4\"\n", nil), ("u -1\n", nil),
            ("u 99999999999999999999\n", nil),
            ("x u 1\n", nil), ("b true\n", nil),
            ("Failed to get property Metered on interface org.freedesktop.NetworkManager: Access denied\n", nil),
        ] as [(String, MeteredAnswer?)])
    func `NetworkManagerText: an answer is one number, and other texts give nil`(text: String, answer: MeteredAnswer?) {
        #expect(NetworkManagerText.answer(text) == answer)
    }

    @Test(
        arguments: [
            (
                "Monitoring signals on object /org/freedesktop/NetworkManager owned by org.freedesktop.NetworkManager",
                .other
            ),
            ("The name org.freedesktop.NetworkManager is owned by :1.2", .ask),
            ("The name org.freedesktop.NetworkManager does not have an owner", .gone),
            (
                """
                /org/freedesktop/NetworkManager: org.freedesktop.DBus.Properties.PropertiesChanged \
                ('org.freedesktop.NetworkManager', {'Metered': <uint32 4>}, @as [])
                """, .metered(.guessNo)
            ),
            (
                """
                /org/freedesktop/NetworkManager: org.freedesktop.DBus.Properties.PropertiesChanged \
                ('org.freedesktop.NetworkManager', {'ActiveConnections': \
                <[objectpath '/org/freedesktop/NetworkManager/ActiveConnection/2']>, 'Connectivity': <uint32 4>, \
                'Metered': <uint32 1>, 'PrimaryConnection': \
                <objectpath '/org/freedesktop/NetworkManager/ActiveConnection/2'>, 'State': <uint32 70>}, @as [])
                """, .metered(.yes)
            ),
            (
                """
                /org/freedesktop/NetworkManager: org.freedesktop.DBus.Properties.PropertiesChanged \
                ('org.freedesktop.NetworkManager', {'Connectivity': <uint32 2>}, @as [])
                """, .other
            ),
            (
                """
                /org/freedesktop/NetworkManager: org.freedesktop.NetworkManager.PropertiesChanged \
                ({'Metered': <uint32 3>},)
                """, .metered(.guessYes)
            ),
            (
                """
                /org/freedesktop/NetworkManager: org.freedesktop.DBus.Properties.PropertiesChanged \
                ('org.freedesktop.NetworkManager', @a{sv} {}, ['Metered'])
                """, .ask
            ),
            ("/org/freedesktop/NetworkManager: org.freedesktop.NetworkManager.StateChanged (uint32 70,)", .other),
            (
                """
                /org/freedesktop/NetworkManager: org.freedesktop.DBus.Properties.PropertiesChanged \
                ('org.freedesktop.NetworkManager', {'Metered': <uint32 77>}, @as [])
                """, .metered(.unknown)
            ),
            ("", .other), ("'Metered': <uint32 1>", .other),
        ] as [(String, NetworkManagerText.Notice)])
    func `NetworkManagerText: each line gives one notice`(line: String, notice: NetworkManagerText.Notice) {
        #expect(NetworkManagerText.notice(line) == notice)
    }
}
