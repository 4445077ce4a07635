/// The store for `s3` URLs and the sources of its keys, configured as for the AWS tools.
///
/// Keys are taken from the environment, otherwise from the profile, the container or the instance, in this order. If
/// there are none, requests are anonymous.
public struct S3Settings: Sendable, Hashable {
    /// The URL of a store other than AWS. Default `nil`: the profile's, otherwise AWS.
    public var endpoint: DownloadURL?
    /// The region. Default `nil`: the profile's, otherwise `us-east-1`.
    public var region: String?
    /// The keys. Default `nil`: those of the profile, the container or the instance.
    public var credentials: S3Credentials?
    /// The profile. Default `default`.
    package var profile = "default"
    /// Whether the profile must exist.
    package var isProfileNamed = false
    /// The paths of the profile files; `nil` for none.
    package var credentialsFile: String?
    package var configFile: String?
    /// Whether endpoint URLs in the profile files are ignored.
    package var ignoresConfiguredEndpoint = false
    /// The URL of a container's keys, and the authorization for requesting them.
    package var container: DownloadURL?
    package var containerToken: String?
    package var containerTokenFile: String?
    /// The instance's metadata service; `nil` if it must not be queried.
    package var metadata: DownloadURL?
    /// The name of a variable that cannot be used.
    package var problem: String?
    /// Whether downloads of objects may have their own proxies and certificates. If so, whoever chooses them can read
    /// the requests that are signed with these keys. Default true; false in the daemon.
    package var allowsOwnRoute = true

    /// Creates settings without keys, for AWS.
    public init() {}

    /// Reads the environment variables `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`,
    /// `AWS_DEFAULT_REGION`, `AWS_PROFILE`, `AWS_SHARED_CREDENTIALS_FILE`, `AWS_CONFIG_FILE`, `AWS_ENDPOINT_URL_S3`,
    /// `AWS_ENDPOINT_URL`, `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS`, and the variables of containers and instances.
    ///
    /// If a variable cannot be used, the first download that needs it fails.
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

    /// The server that a text denotes; `nil` if the scheme is not http or https, or if the URL contains user info.
    package static func server(_ text: String) -> DownloadURL? {
        guard let url = try? DownloadURL(text), !url.isObject, url.credentials == nil else { return nil }
        return url
    }
}
