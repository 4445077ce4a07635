import FerryCore
import Testing

@testable import FerryEngine

@Suite("Profiles of the AWS tools")
struct S3ProfileTests {
    private static let config = """
        [default]
        region = us-west-2
        # a comment
        [profile work]
        region=eu-central-1
        services = local
        s3 =
          addressing_style = virtual
          max_concurrent_requests = 20
        output = json

        [profile chained]
        role_arn = arn:aws:iam::1:role/x
        [services local]
        s3 =
          endpoint_url = http://127.0.0.1:9000
        """

    @Test("S3Profile: keys are of the file credentials, region, store and style of the file config")
    func profile() {
        let keys = AWSProfiles("[work]\naws_access_key_id = AKID\naws_secret_access_key=a=b/c+\n[other]\n")
        let profile = S3Profile("work", credentials: keys, config: AWSProfiles(Self.config), ignoresEndpoint: false)
        #expect(profile.exists && profile.problem == nil)
        #expect(profile.credentials?.secretKey == "a=b/c+")
        #expect(profile.region == "eu-central-1")
        #expect(profile.endpoint.base?.text == "http://127.0.0.1:9000/")
        #expect(profile.endpoint.style == .virtual)
        let other = S3Profile("default", credentials: keys, config: AWSProfiles(Self.config), ignoresEndpoint: false)
        #expect(other.exists && other.credentials == nil && other.region == "us-west-2" && other.endpoint.style == nil)
    }

    @Test("S3Profile: a profile that does not exist, and one whose keys are another service's, are told")
    func unusable() {
        let config = AWSProfiles(Self.config)
        let none = S3Profile("none", credentials: AWSProfiles(), config: config, ignoresEndpoint: false)
        #expect(!none.exists)
        let chained = S3Profile("chained", credentials: AWSProfiles(), config: config, ignoresEndpoint: false)
        #expect(chained.problem == "role_arn")
    }
}
