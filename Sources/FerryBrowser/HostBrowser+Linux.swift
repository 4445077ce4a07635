#if canImport(Glibc) || canImport(Musl)
    extension HostBrowser {
        static let geckoDirectory = "native-messaging-hosts"

        static func profiles(of browser: HostBrowser, home: String, configuration: String) -> String {
            switch browser {
            case .chromium: configuration + "/chromium"
            case .chrome: configuration + "/google-chrome"
            case .edge: configuration + "/microsoft-edge"
            case .brave: configuration + "/BraveSoftware/Brave-Browser"
            case .vivaldi: configuration + "/vivaldi"
            case .firefox: home + "/.mozilla"
            case .librewolf: home + "/.librewolf"
            }
        }
    }
#endif
