import Testing

@testable import FerryCore

@Suite("Objects of stores")
struct ObjectURLTests {
    @Test("DownloadURL: an s3 URL has its bucket as host, and its key as path")
    func object() throws {
        let url = try DownloadURL(" s3://my-bucket.x/a dir/ü+b%2520.bin ")
        #expect(url.isObject)
        #expect(url.host == "my-bucket.x")
        #expect(String(decoding: url.objectKey, as: UTF8.self) == "a dir/ü+b%20.bin")
        #expect(url.text == "s3://my-bucket.x/a%20dir/%C3%BC+b%2520.bin")
        #expect(try DownloadURL(url.text) == url)
        #expect(try DownloadURL("s3://bucket").objectKey.isEmpty)
        #expect(try DownloadURL("s3://bucket//x").objectKey == Array("/x".utf8))
        #expect(try DownloadURL("s3://bucket/a?versionId=x.y").query == "versionId=x.y")
    }

    @Test(
        "DownloadURL: a bucket that cannot be, user info, another query or a dot segment is refused",
        arguments: [
            "s3://", "s3:///key", "s3://ab/x", "s3://Bucket/x", "s3://a..b/x", "s3://-ab/x", "s3://ab./x",
            "s3://192.168.0.1/x", "s3://user:pass@bucket/x", "s3://bucket:80/x", "s3://evil.com\\@bucket/x",
            "s3://bucket/a?acl", "s3://bucket/a?versionId=1&policy", "s3://bucket/a/../b", "s3://bucket/%2E%2E/b",
            "s3://bucket/./b", "s3://bu_cket/x", "s3://bucket%2e/x",
        ])
    func refused(_ text: String) {
        #expect(throws: DownloadError.self) { try DownloadURL(text) }
    }

    @Test("DownloadURL: no reference of a server leads to an object")
    func references() throws {
        let page = try DownloadURL("https://example.com/a")
        #expect(throws: DownloadError.self) { try page.resolving("s3://bucket/key") }
        #expect(throws: DownloadError.self) { try page.resolving("S3://bucket/key") }
    }

    @Test("S3Endpoint: objects of AWS have their bucket in the host name, unless it has a dot")
    func amazon() throws {
        let endpoint = S3Endpoint()
        func url(_ text: String, _ region: String = "eu-west-1") throws -> String {
            endpoint.url(for: try DownloadURL(text), region: region).text
        }
        #expect(try url("s3://bucket/a+b c") == "https://bucket.s3.eu-west-1.amazonaws.com/a%2Bb%20c")
        #expect(try url("s3://my.bucket/k") == "https://s3.eu-west-1.amazonaws.com/my.bucket/k")
        #expect(try url("s3://bucket/k", "cn-north-1") == "https://bucket.s3.cn-north-1.amazonaws.com.cn/k")
        #expect(
            try url("s3://bucket/k?versionId=a+b/c")
                == "https://bucket.s3.eu-west-1.amazonaws.com/k?versionId=a%2Bb%2Fc")
    }

    @Test("S3Endpoint: another store has the bucket in the path, or where its profile says so in the host name")
    func others() throws {
        let base = try DownloadURL("http://store.example:9000/prefix/")
        let object = try DownloadURL("s3://bucket/dir/k")
        #expect(
            S3Endpoint(base: base).url(for: object, region: "x").text == "http://store.example:9000/prefix/bucket/dir/k"
        )
        #expect(
            S3Endpoint(base: base, style: .virtual).url(for: object, region: "x").text
                == "http://bucket.store.example:9000/prefix/dir/k")
        let address = try DownloadURL("http://127.0.0.1:9000")
        #expect(
            S3Endpoint(base: address, style: .virtual).url(for: object, region: "x").text
                == "http://127.0.0.1:9000/bucket/dir/k")
    }

    @Test("S3Endpoint: what a server names as region cannot lead to another host")
    func regions() {
        #expect(S3Endpoint.isRegion("eu-central-1"))
        for text in ["", "a.evil.com", "x/", "x@y", "-a", "a-", String(repeating: "a", count: 41), "é", "a b"] {
            #expect(!S3Endpoint.isRegion(text))
        }
    }

    @Test("URLList: a line with an object is a URL, also after a mirror on the line")
    func lists() throws {
        var list = URLList()
        list.append(Array("s3://bucket/a b\nhttps://h/x s3://bucket/x\n  s3://bucket/c\n".utf8))
        list.finish()
        var found: [[String]] = []
        while let item = list.next() { if case .entry(let entry) = item { found.append(entry.urls.map(\.text)) } }
        #expect(found == [["s3://bucket/a%20b"], ["https://h/x", "s3://bucket/x"], ["s3://bucket/c"]])
    }

    @Test("ObjectText: paths and queries are encoded as they are signed")
    func encoding() {
        #expect(ObjectText.encode(Array("test$file.text".utf8), keepsSlash: true) == "test%24file.text")
        #expect(ObjectText.encode(Array("a/b c+ü~".utf8), keepsSlash: true) == "a/b%20c%2B%C3%BC~")
        #expect(ObjectText.encode(Array("a/b".utf8), keepsSlash: false) == "a%2Fb")
        #expect(ObjectText.query([("prefix", "J"), ("max-keys", "2")]) == "max-keys=2&prefix=J")
        #expect(ObjectText.query([("uploads", "")]) == "uploads=")
        #expect(ObjectText.parameters(of: "a=b%2Bc+d&e").map(\.value) == ["b+c+d", ""])
    }
}
