import Testing

@testable import FerryCore

@Suite("Settings of stores")
struct S3SettingsTests {
    @Test("S3Settings: the environment names keys, region, store, profile and files")
    func environment() throws {
        let settings = S3Settings(environment: [
            "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token",
            "AWS_DEFAULT_REGION": "eu-west-1", "AWS_ENDPOINT_URL": "http://all:1", "AWS_ENDPOINT_URL_S3": "http://s3:2",
            "AWS_PROFILE": "work", "HOME": "/home/x", "AWS_CONFIG_FILE": "/etc/aws",
        ])
        #expect(settings.credentials?.accessKey == "AKID")
        #expect(settings.credentials?.sessionToken == "token")
        #expect(settings.region == "eu-west-1")
        #expect(settings.endpoint?.text == "http://s3:2/")
        #expect(settings.profile == "work" && settings.isProfileNamed)
        #expect(settings.credentialsFile == "/home/x/.aws/credentials")
        #expect(settings.configFile == "/etc/aws")
        #expect(settings.metadata?.host == "169.254.169.254")
        #expect(settings.problem == nil)
    }

    @Test("S3Settings: an empty environment has no keys, AWS's store, and no files")
    func empty() {
        let settings = S3Settings(environment: ["AWS_ACCESS_KEY_ID": "", "AWS_EC2_METADATA_DISABLED": "TRUE"])
        #expect(settings.credentials == nil && settings.endpoint == nil && settings.credentialsFile == nil)
        #expect(settings.metadata == nil && settings.problem == nil)
    }

    @Test(
        "S3Settings: a variable that cannot be used is named",
        arguments: [
            (["AWS_ENDPOINT_URL": "store"], "AWS_ENDPOINT_URL"),
            (["AWS_ENDPOINT_URL_S3": "s3://bucket"], "AWS_ENDPOINT_URL_S3"),
            (["AWS_ENDPOINT_URL": "http://u:p@host"], "AWS_ENDPOINT_URL"), (["AWS_REGION": "a.b"], "AWS_REGION"),
            (["AWS_ACCESS_KEY_ID": "a\nb", "AWS_SECRET_ACCESS_KEY": "c"], "AWS_ACCESS_KEY_ID"),
        ])
    func problems(_ environment: [String: String], _ name: String) {
        #expect(S3Settings(environment: environment).problem == name)
    }

    @Test("S3Settings: a configured store can be ignored")
    func ignored() {
        let settings = S3Settings(environment: [
            "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true", "AWS_ENDPOINT_URL": "http://x",
        ])
        #expect(settings.endpoint == nil && settings.ignoresConfiguredEndpoint)
    }

    @Test("S3Credentials: nothing of them is in a description or mirror")
    func secret() throws {
        let keys = try S3Credentials(accessKey: "AKID", secretKey: "s3cret", sessionToken: "tok3n")
        var settings = S3Settings()
        settings.credentials = keys
        for text in ["\(keys)", String(reflecting: keys), "\(settings)", String(reflecting: settings)] {
            #expect(!text.contains("s3cret") && !text.contains("tok3n") && !text.contains("AKID"))
        }
    }
}
