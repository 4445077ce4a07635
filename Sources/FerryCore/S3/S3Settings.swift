/// Where the keys for `s3` URLs come from, and which store is meant, as the tools of AWS read it from their environment.
///
/// The keys of the environment count first, then those of the profile, of the container, of the instance; without any,
/// requests are anonymous.
public struct S3Settings: Sendable, Hashable {
    /// The URL of a store that is not AWS. Default `nil`: that of the profile, else AWS.
    public var endpoint: DownloadURL?
    /// The region. Default `nil`: that of the profile, else `us-east-1`.
    public var region: String?
    /// The keys. Default `nil`: those of the profile, the container, the instance.
    public var credentials: S3Credentials?
    /// The profile. Default `default`.
    package var profile = "default"
    /// Whether the profile must exist.
    package var isProfileNamed = false
    /// The paths of the files of profiles; `nil` for none.
    package var credentialsFile: String?
    package var configFile: String?
    /// Whether the files may name a store.
    package var ignoresConfiguredEndpoint = false
    /// Where a container's keys are, and what they are requested with.
    package var container: DownloadURL?
    package var containerToken: String?
    package var containerTokenFile: String?
    /// The instance's metadata; `nil` if it is not to be asked.
    package var metadata: DownloadURL?
    /// A variable that cannot be used.
    package var problem: String?
    /// Whether downloads for objects may bring proxies and certificates of their own: then whoever chooses those sees the
    /// requests that are signed with these keys. Default true; false in the daemon.
    package var allowsOwnRoute = true

    /// No keys, and AWS's store.
    public init() {}

    /// Reads the variables of an environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`,
    /// `AWS_REGION`, `AWS_DEFAULT_REGION`, `AWS_PROFILE`, `AWS_SHARED_CREDENTIALS_FILE`, `AWS_CONFIG_FILE`,
    /// `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS`, and those of containers and of
    /// instances.
    ///
    /// A variable that cannot be used is an error of the first download that needs it.
    public init(environment: [String: String]) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        func url(_ names: String...) -> DownloadURL? {
            for name in names {
                guard let text = environment[name], !text.isEmpty else { continue }
                guard let url = Self.server(text) else {
                    problem = name
                    return nil
                }
                return url
            }
            return nil
        }
        func isTrue(_ name: String) -> Bool { environment[name]?.asciiLowercased == "true" }

        ignoresConfiguredEndpoint = isTrue("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")
        if !ignoresConfiguredEndpoint { endpoint = url("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") }
        region = value("AWS_REGION", "AWS_DEFAULT_REGION")
        if let text = region, !S3Endpoint.isRegion(text) { problem = "AWS_REGION" }
        if let accessKey = value("AWS_ACCESS_KEY_ID"), let secretKey = value("AWS_SECRET_ACCESS_KEY") {
            credentials = S3Credentials(accessKey, secretKey, value("AWS_SESSION_TOKEN"), expires: nil)
            if credentials == nil { problem = "AWS_ACCESS_KEY_ID" }
        }
        if let name = value("AWS_PROFILE", "AWS_DEFAULT_PROFILE") { (profile, isProfileNamed) = (name, true) }
        let home = value("HOME")
        credentialsFile = value("AWS_SHARED_CREDENTIALS_FILE") ?? home.map { Paths.join($0, ".aws/credentials") }
        configFile = value("AWS_CONFIG_FILE") ?? home.map { Paths.join($0, ".aws/config") }
        if let path = value("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            container = Self.server("http://169.254.170.2\(path)")
            if container == nil { problem = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI" }
        } else if value("AWS_CONTAINER_CREDENTIALS_FULL_URI") != nil {
            container = url("AWS_CONTAINER_CREDENTIALS_FULL_URI")
        }
        containerToken = value("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        containerTokenFile = value("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
        if !isTrue("AWS_EC2_METADATA_DISABLED") {
            metadata = url("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? Self.server("http://169.254.169.254")
        }
    }

    /// The server of a text; `nil` if it is none: another scheme, or with user info.
    static func server(_ text: String) -> DownloadURL? {
        guard let url = try? DownloadURL(text), !url.isObject, url.credentials == nil else { return nil }
        return url
    }
}
