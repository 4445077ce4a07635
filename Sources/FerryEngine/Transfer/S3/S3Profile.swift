package import FerryCore

/// The settings of one profile.
package struct S3Profile: Sendable, Hashable {
    package var credentials: S3Credentials?
    var region: String?
    package var endpoint = S3Endpoint()
    /// Whether the files contain the profile.
    var exists = false
    /// The name of a setting that cannot be used.
    var problem: String?

    /// Reads a profile.
    ///
    /// - Parameters:
    ///   - credentials: The `credentials` file.
    ///   - config: The `config` file.
    package init(_ name: String, credentials: AWSProfiles, config: AWSProfiles, ignoresEndpoint: Bool) {
        let keys = credentials[name]
        let settings = config[name == "default" ? "default" : "profile \(name)"] ?? config[name]
        exists = keys != nil || settings != nil
        func value(_ name: String) -> String? { (keys?[name] ?? settings?[name]).flatMap { $0.isEmpty ? nil : $0 } }
        if let accessKey = value("aws_access_key_id"), let secretKey = value("aws_secret_access_key") {
            self.credentials = S3Credentials(accessKey, secretKey, value("aws_session_token"), expires: nil)
            if self.credentials == nil { problem = "aws_access_key_id" }
        } else {
            // Ferry neither starts programs nor requests keys from other services.
            problem = ["credential_process", "role_arn", "sso_session", "sso_start_url", "web_identity_token_file"]
                .first {
                    value($0) != nil
                }
        }
        region = value("region")
        if let text = region, !S3Endpoint.isRegion(text) { (region, problem) = (nil, "region") }
        endpoint.style = value("s3.addressing_style").flatMap { S3Endpoint.Style(rawValue: $0) }
        guard !ignoresEndpoint else { return }
        let services = value("services").flatMap { config["services \($0)"] }
        if let text = services?["s3.endpoint_url"] ?? value("endpoint_url") {
            endpoint.base = S3Settings.server(text)
            if endpoint.base == nil { problem = "endpoint_url" }
        }
    }
}
