import Ferry
import FerryCore
import FerryEngine

extension FuzzTarget {
    /// A response of an object store, or an AWS configuration file.
    static func store(_ input: [UInt8]) throws(BrokenPromise) {
        if let page = try? S3ListPage(parsing: input) {
            for object in page.objects {
                try promise(object.totalBytes.isSize, "a size of \(object.totalBytes)")
                try promise(object.etag.map { EntityTag($0) != nil } ?? true, "the tag \(object.etag ?? "")")
            }
            try promise(page.continuation.map { !$0.isEmpty } ?? true, "an empty token")
        }
        guard let object = try? DownloadURL("s3://bucket/key") else { return }
        for status in [301, 400, 403, 404, 503] {
            let failure = S3Failure(ResponseHead(status: status), body: input)
            try promiseOneLine(failure.phrase(of: object, isSigned: true).text(in: .english))
            guard case .region(let region) = failure.remedy else { continue }
            let url = S3Endpoint().url(for: object, region: region)
            try checkForm(of: url)
            try promise(
                url.host.utf8.hasSuffix(".amazonaws.com") || url.host.utf8.hasSuffix(".amazonaws.com.cn"),
                "the region leads to \(url.host)")
        }
        if let id = try? S3UploadDocument.identifier(input) {
            try promise(JournalRecord.Upload.isIdentifier(id), "the identifier \(id)")
        }
        if let parts = try? S3UploadDocument.parts(input).parts {
            try promise(parts.allSatisfy { (1...S3UploadPlan.mostParts).contains($0.number) }, "\(parts)")
            try promise(parts.allSatisfy { $0.bytes.isSize }, "\(parts)")
        }
        let profiles = AWSProfiles(String(decoding: input, as: UTF8.self))
        let profile = S3Profile("default", credentials: profiles, config: profiles, ignoresEndpoint: false)
        if let keys = profile.credentials {
            try promise("\(keys)" == "credentials", "keys are shown")
        }
        if let base = profile.endpoint.base { try checkForm(of: S3Endpoint(base: base).url(for: object, region: "x")) }
    }
}
