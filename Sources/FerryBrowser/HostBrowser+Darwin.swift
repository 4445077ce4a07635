#if canImport(Darwin)
    extension HostBrowser {
        static let geckoDirectory = "NativeMessagingHosts"

        static func profiles(of browser: HostBrowser, home: String, configuration _: String) -> String {
            let support = home + "/Library/Application Support"
            return switch browser {
            case .chromium: support + "/Chromium"
            case .chrome: support + "/Google/Chrome"
            case .edge: support + "/Microsoft Edge"
            case .brave: support + "/BraveSoftware/Brave-Browser"
            case .vivaldi: support + "/Vivaldi"
            case .firefox: support + "/Mozilla"
            case .librewolf: support + "/LibreWolf"
            }
        }
    }
#endif
