import FerryCore
import HTTPTypes

extension FuzzTarget {
    /// Command line values: sizes, times, headers, proxies, certificates, languages.
    static func arguments(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input, as: UTF8.self)
        try checkNumbers(text)
        try checkHeaders(text)
        try checkProxy(text)
        _ = PEMText.holdsCertificate(text)
        _ = Language(environment: ["LANG": text])
        if let name = try? DownloadRequest.Destination.directory("/d", name: .exact(text)).resolved(),
            case .file(let path) = name
        {
            try promise(path == "/d/" + text && text.utf8.count <= 240, "another path: \(path.debugDescription)")
        }
    }

    private static func checkNumbers(_ text: String) throws(BrokenPromise) {
        switch outcome({ () throws(TextError) in try SizeText.parse(text) }) {
        case .success(let size):
            try promise(size >= 0 && (try? SizeText.parse("\(size)")) == size, "a size of \(size)")
        case .failure(let error): try promiseOneLine(error.message)
        }
        switch outcome({ () throws(TextError) in try SizeText.parseRate(text) }) {
        case .success(let rate):
            try promise(rate >= 0 && (try? SizeText.parseRate("\(rate)/s")) == rate, "a rate of \(rate)")
        case .failure(let error): try promiseOneLine(error.message)
        }
        switch outcome({ () throws(TextError) in try DurationText.parse(text) }) {
        case .success(let duration):
            try promise(duration >= .zero && duration <= .seconds(36_500 * 86_400), "\(duration)")
        case .failure(let error): try promiseOneLine(error.message)
        }
    }

    private static func outcome<Value>(_ body: () throws(TextError) -> Value) -> Result<Value, TextError> {
        Result(catching: body)
    }

    private static func checkHeaders(_ text: String) throws(BrokenPromise) {
        let fields = (try? HeaderLine.parseFile(text)) ?? HTTPFields()
        for field in fields {
            try promiseFieldValue(field.value)
            let line = "\(field.name.rawName): \(field.value)"
            try promise((try? HeaderLine.parse(line)) == field, "not read again: \(line.debugDescription)")
        }
        do {
            _ = try HeaderLine.parse(text)
        } catch { try promiseOneLine(error.message) }
    }

    private static func checkProxy(_ text: String) throws(BrokenPromise) {
        let bypass = (try? ProxySettings(explicit: "http://proxy:1", noProxy: text)) ?? ProxySettings()
        for host in ["example.com", "10.1.2.3", "[fd00::1]"] {
            if let url = try? DownloadURL("https://\(host):8443/") { _ = bypass.proxy(for: url) }
        }
        let secret = "s3cr3tW0RD"
        for candidate in [text, "http://user:\(secret)@\(text)"] {
            let proxy: Proxy
            do {
                proxy = try Proxy(parsing: candidate)
            } catch {
                try promiseOneLine(error.message)
                if !text.contains(secret) { try promise(!error.message.contains(secret), "shown: \(error.message)") }
                continue
            }
            var bare = proxy
            bare.credentials = nil
            try promise((1...65_535).contains(proxy.port), "port \(proxy.port)")
            try promise((try? Proxy(parsing: "\(proxy)")) == bare, "not read again: \(proxy)")
        }
    }
}
