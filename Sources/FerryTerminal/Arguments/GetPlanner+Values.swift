import Ferry
import FerryCore
import HTTPTypes

extension GetPlanner {
    /// Returns the manager's configuration.
    func configuration() throws(UsageError) -> DownloadManager.Configuration {
        guard options.parallel >= 1 else { throw UsageError("-j needs a number of 1 or more") }
        guard options.connections >= 1 else { throw UsageError("-x needs a number of 1 or more") }
        var configuration = DownloadManager.Configuration.ephemeral
        configuration.maxConcurrentDownloads = descriptors.parallel
        if let text = options.limitRate {
            let rate = try value("--limit-rate") { () throws(TextError) in try SizeText.parseRate(text) }
            configuration.rateLimit = rate > 0 ? rate : nil
        }
        if let text = options.minFree { configuration.minFreeBytes = try size(text, option: "--min-free") }
        configuration.sharesWithGroup = options.sharedGroup
        if let text = options.stallTimeout {
            configuration.stallTimeout = try duration(text, option: "--stall-timeout")
        }
        if let text = options.retries { configuration.maxAttempts = try retries(text) }
        configuration.transfer = try transferSettings()
        return configuration
    }

    /// The requested parallelism, reduced to what the limit of open files allows.
    var descriptors: DescriptorPolicy {
        // An explicit request for more than the default limit per host takes precedence.
        let perHost = max(TransferSettings().connectionsPerHost, options.connections, options.parallel)
        return DescriptorPolicy(
            limit: world.openFileLimit, parallel: options.parallel, connections: options.connections,
            connectionsPerHost: perHost)
    }

    private func transferSettings() throws(UsageError) -> TransferSettings {
        var settings = TransferSettings()
        if let text = options.connectTimeout {
            settings.connectTimeout = try duration(text, option: "--connect-timeout")
        }
        if let text = options.userAgent {
            settings.userAgent = try field("User-Agent", text, option: "--user-agent").value
        }
        settings.proxy = try proxy()
        if let path = options.caFile {
            guard PEMText.holdsCertificate(try read(path, what: "CA file")) else {
                throw UsageError("--ca-file: \(path) holds no certificate in PEM form")
            }
            settings.caFile = path
        }
        settings.insecure = options.insecure
        if options.ipv4, options.ipv6 { throw UsageError("-4 and -6 contradict each other") }
        settings.allowsPrivate = !options.noPrivate
        settings.addressFamily = options.ipv4 ? .v4 : options.ipv6 ? .v6 : .any
        if let path = options.cookieFile {
            settings.cookies = CookieJar(netscapeFile: try read(path, what: "cookie file"))
        }
        settings.connectionsPerHost = descriptors.connectionsPerHost
        return settings
    }

    private func proxy() throws(UsageError) -> ProxySettings {
        let environment = world.environment
        guard let text = options.proxy else {
            do {
                return try ProxySettings(environment: environment)
            } catch {
                throw UsageError(error.message)
            }
        }
        let noProxy = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        return try value("--proxy") { () throws(TextError) in try ProxySettings(explicit: text, noProxy: noProxy) }
    }

    func conflictRule() throws(UsageError) -> ConflictRule {
        guard let text = options.onConflict else { return .rename }
        guard let rule = ConflictRule(rawValue: text) else {
            throw UsageError("--on-conflict is one of rename, overwrite, fail, skip, not \(TextError.quote(text))")
        }
        return rule
    }

    /// Returns the user's headers, from options and from the files that they name.
    func headers() throws(UsageError) -> HTTPFields {
        var fields = HTTPFields()
        for text in options.headers {
            if text.utf8.hasPrefix("@") {
                let path = String(text.dropFirst())
                let content = try read(path, what: "header file")
                for field in try value(path, { () throws(TextError) in try HeaderLine.parseFile(content) }) {
                    fields.append(field)
                }
            } else {
                fields.append(try value("--header") { () throws(TextError) in try HeaderLine.parse(text) })
            }
        }
        if let referer = options.referer { fields.append(try field("Referer", referer, option: "--referer")) }
        for field in fields where HeaderLine.isReserved(field.name) { throw Self.reserved(field.name) }
        return fields
    }

    static func reserved(_ name: HTTPField.Name) -> UsageError {
        UsageError("the header \(name.rawName) is set by ferry itself")
    }

    /// Parses `USER:PASSWORD`; for `USER` alone, prompts for the password on the terminal.
    func credentials() throws(UsageError) -> Credentials? {
        guard let text = options.user else { return nil }
        return try credentials(of: UserWord(text))
    }

    func credentials(of word: UserWord) throws(UsageError) -> Credentials {
        if let password = word.password { return Credentials(user: word.user, password: password) }
        return Credentials(user: word.user, password: try world.password(word.user))
    }

    func size(_ text: String, option: String) throws(UsageError) -> ByteCount {
        try value(option) { () throws(TextError) in try SizeText.parse(text) }
    }

    private func duration(_ text: String, option: String) throws(UsageError) -> Duration {
        let duration = try value(option) { () throws(TextError) in try DurationText.parse(text) }
        guard duration > .zero else { throw UsageError("\(option) needs more than 0 seconds") }
        return duration
    }

    private func retries(_ text: String) throws(UsageError) -> Int? {
        if text == "inf" { return nil }
        guard let number = Int(text), number >= 0 else {
            throw UsageError("--retries needs a number or inf, not \(TextError.quote(text))")
        }
        return number
    }

    private func field(_ name: String, _ text: String, option: String) throws(UsageError) -> HTTPField {
        try value(option) { () throws(TextError) in try HeaderLine.parse("\(name): \(text)") }
    }

    private func value<Value>(_ option: String, _ read: () throws(TextError) -> Value) throws(UsageError) -> Value {
        do {
            return try read()
        } catch {
            throw UsageError("\(option): \(error)")
        }
    }
}
