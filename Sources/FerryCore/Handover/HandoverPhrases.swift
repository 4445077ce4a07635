extension HandoverObstacle {
    /// The demand of the download that the system cannot honour.
    package var phrase: ErrorPhrase {
        switch self {
        case .rateLimit: ErrorPhrase(.demandsRateLimit)
        case .hostBudget: ErrorPhrase(.demandsHostBudget)
        case .proxy: ErrorPhrase(.demandsProxy)
        case .certificates: ErrorPhrase(.demandsCertificates)
        case .insecure: ErrorPhrase(.demandsInsecure)
        case .addressFamily: ErrorPhrase(.demandsAddressFamily)
        case .mirrors: ErrorPhrase(.demandsMirrors)
        case .unencrypted: ErrorPhrase(.demandsUnencrypted)
        case .privateAddresses: ErrorPhrase(.demandsPublicAddresses)
        case .maxBytes: ErrorPhrase(.demandsMaxBytes)
        case .stream: ErrorPhrase(.itIsAStream)
        case .object: ErrorPhrase(.demandsObject)
        case .credentials: ErrorPhrase(.demandsCredentials)
        case .cookies: ErrorPhrase(.demandsCookies)
        case .secretsAcrossOrigins: ErrorPhrase(.demandsSecrets)
        }
    }
}

extension HandoverRefusal {
    /// The sentence for an event; `nil` if there is nothing to report, because no bytes are missing or only tasks are lacking.
    package var phrase: ErrorPhrase? {
        switch self {
        case .obstacle(let obstacle): ErrorPhrase(.staysWithApp, obstacle.phrase)
        case .unproven, .unprovenWithBytes: ErrorPhrase(.staysWithApp, ErrorPhrase(.demandsValidator))
        case .noSpace: ErrorPhrase(.staysWithApp, ErrorPhrase(.demandsSpace))
        case .nothingMissing, .noTaskLeft, .refusedBefore: nil
        }
    }
}

extension LeaseOutcome {
    /// The sentence for an event; `nil` for ends that change nothing, and for fetched bytes, which the progress shows.
    package var phrase: ErrorPhrase? {
        switch self {
        case .failed(let code): ErrorPhrase(.systemFailed, "\(code)")
        case .refused(let reason):
            reason.showsChange ? ErrorPhrase(.systemFoundChange) : ErrorPhrase(.systemBroughtOther)
        case .claimed, .repeated, .takenBack, .stopped, .lost, .withdrawn: nil
        }
    }
}
