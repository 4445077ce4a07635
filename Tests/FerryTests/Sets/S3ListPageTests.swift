import FerryCore
import Testing

@testable import Ferry

@Suite("Pages of objects of a bucket")
struct S3ListPageTests {
    private static let namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

    @Test("S3ListPage: keys that are encoded are decoded, and a page names the next one")
    func list() throws {
        let page = try S3ListPage(
            parsing: Array(
                """
                <ListBucketResult xmlns="\(Self.namespace)"><EncodingType>url</EncodingType>
                <IsTruncated>true</IsTruncated><NextContinuationToken>1a/b=</NextContinuationToken>
                <Contents><Key>a+b%2Bc%0A</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified>
                <ETag>&quot;828ef3fdfa96f00ad9f27c383fc9ac7f-3&quot;</ETag><Size>5</Size></Contents>
                <Contents><Key>no size</Key></Contents>
                <Contents><Key>d/</Key><Size>0</Size></Contents></ListBucketResult>
                """.utf8))
        #expect(page.objects.count == 2)
        #expect(page.objects[0].key == Array("a b+c\n".utf8))
        #expect(page.objects[0].totalBytes == 5)
        #expect(page.objects[0].etag == "\"828ef3fdfa96f00ad9f27c383fc9ac7f-3\"")
        #expect(page.objects[0].lastModified == "Mon, 12 Oct 2009 17:50:30 GMT")
        #expect(page.continuation == "1a/b=")
    }

    @Test("S3ListPage: keys that are not encoded stay, and an untruncated page is the last one")
    func lastPage() throws {
        let page = try S3ListPage(
            parsing: Array(
                "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a+b%20</Key><Size>1</Size></Contents></ListBucketResult>"
                    .utf8))
        #expect(page.objects.map(\.key) == [Array("a+b%20".utf8)])
        #expect(page.continuation == nil)
    }

    @Test("S3ListPage: another document, and a truncated page without its token, are refused")
    func unusable() {
        for text in ["<Error/>", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", ""] {
            #expect(throws: TextError.self) { try S3ListPage(parsing: Array(text.utf8)) }
        }
    }
}
