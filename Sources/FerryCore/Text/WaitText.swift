#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

extension DownloadStatus {
    /// The reason why the download does not run now, and the time at which it continues by itself; `nil` if the state
    /// says everything. All interfaces show this sentence; each adds in its own words what the user can do.
    ///
    /// - Parameter time: Returns the text of a date.
    package func waitSentence(_ time: (Date) -> String) -> Reason? {
        guard case .waiting(let wait) = state else { return nil }
        let cause = waitError?.reason
        switch wait {
        case .retry(let date):
            guard let cause else { return "next attempt at \(time(date))" }
            return "\(cause); next attempt at \(time(date))"
        case .notBefore(let date): return "starts at \(time(date))"
        case .server(let since, let until):
            guard let cause else { return nil }
            let reason: Reason = if let since { "\(cause), since \(time(since))" } else { cause }
            if let until { return "\(reason); next attempt at \(time(until))" }
            return since == nil ? reason : "\(reason); trying again now"
        case .freshLink, .credentials, .diskSpace, .network: return cause
        case .slot: return nil
        }
    }
}
