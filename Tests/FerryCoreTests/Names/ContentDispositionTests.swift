import Testing

@testable import FerryCore

@Suite("Content-Disposition")
struct ContentDispositionTests {
    @Test(
        "ContentDisposition: the file name is found and decoded",
        arguments: [
            ("attachment; filename=\"a.zip\"", "a.zip"), ("attachment; filename=a.zip", "a.zip"),
            ("inline; filename=a.zip", "a.zip"), ("ATTACHMENT; FILENAME=\"a.zip\"", "a.zip"),
            ("attachment;filename=a.zip", "a.zip"), ("attachment ; filename = \"a.zip\" ; x=y", "a.zip"),
            ("filename=\"a.zip\"", "a.zip"), ("attachment; filename=a b.zip; x", "a b.zip"),
            ("attachment; x=\"filename=no.zip\"; filename=yes.zip", "yes.zip"),
            ("attachment; x=\"a;filename=no.zip\"; filename=yes.zip", "yes.zip"),
            ("attachment; filename=\"a;b.zip\"", "a;b.zip"), ("attachment; filename=\"a\\\"b.zip\"", "a\"b.zip"),
            ("attachment; filename=\"a\\\\b.zip\"", "a\\b.zip"),
            ("attachment; filename=\"C:\\dir\\a.zip\"", "C:\\dir\\a.zip"),
            ("attachment; filename=\"文件.zip\"", "文件.zip"), ("attachment; filename=文件.zip", "文件.zip"),
            ("attachment; filename=\"%E6%96%87%E4%BB%B6.zip\"", "文件.zip"),
            ("attachment; filename=%E6%96%87%E4%BB%B6.zip", "文件.zip"),
            ("attachment; filename=\"100%.zip\"", "100%.zip"),
            ("attachment; filename=\"a%20b+c.zip\"", "a b+c.zip"), ("attachment; filename=\"%zz%41\"", "%zz%41"),
            ("attachment; filename=\"%D6%D0%CE%C4.zip\"", "中文.zip"),
            ("attachment; filename=%C4%E3%BA%C3.txt", "你好.txt"),
            ("attachment; filename=\"caf%E9.txt\"", "caf%E9.txt"),
            ("attachment; filename*=UTF-8''a%20b.zip", "a b.zip"),
            ("attachment; filename*=utf-8'en'%e2%82%ac.txt", "€.txt"),
            ("attachment; filename*=ISO-8859-1''caf%E9.txt", "café.txt"),
            ("attachment; filename*=gb18030''%D6%D0.txt", "中.txt"),
            ("attachment; filename=\"old.zip\"; filename*=UTF-8''new.zip", "new.zip"),
            ("attachment; filename*=UTF-8''new.zip; filename=\"old.zip\"", "new.zip"),
            ("attachment; filename*=\"UTF-8''new.zip\"", "new.zip"),
            ("attachment; filename*=UTF-8''a'b.zip", "a'b.zip"),
            ("attachment; filename=\"=?UTF-8?B?5paH5Lu2LnppcA==?=\"", "文件.zip"),
            ("attachment; filename=\"=?utf-8?q?a=20b_c.zip?=\"", "a b c.zip"),
            ("attachment; filename=\"=?UTF-8?B?5paH?= =?UTF-8?B?5Lu2?=\"", "文件"),
            ("attachment; filename=\"=?x-unknown?B?5paH?=\"", "=?x-unknown?B?5paH?="),
            ("attachment; filename=\"=?UTF-8?B?!!?=\"", "=?UTF-8?B?!!?="),
        ])
    func found(field: String, expected: String) {
        #expect(ContentDisposition.fileName(field) == expected)
    }

    @Test(
        "ContentDisposition: a broken or repeated parameter falls back to the next best one",
        arguments: [
            ("attachment; filename=a; filename=b; filename*=UTF-8''c", "c"),
            ("attachment; filename=a; filename=b", nil),
            ("attachment; filename=a; filename=\"a\"", "a"),
            ("attachment; filename*=UTF-8''a; filename*=UTF-8''b; filename=c", "c"),
            ("attachment; filename=\"a.zip", nil), ("attachment; filename=\"a.zip; filename*=UTF-8''b.zip", "b.zip"),
            ("attachment; filename=\"a\"b\"; filename*=UTF-8''c", "c"), ("attachment; filename=\"a\\\"", nil),
            ("attachment; filename*=x-unknown''a; filename=b", "b"), ("attachment; filename*=x-unknown''a", nil),
            ("attachment; filename*=UTF-8''%FF.zip; filename=b", "b"),
            ("attachment; filename*=UTF-8''%; filename=b", "b"),
            ("attachment; filename*=UTF-8''%4; filename=b", "b"), ("attachment; filename*=UTF-8''%zz; filename=b", "b"),
            ("attachment; filename*=a.zip; filename=b", "b"), ("attachment; filename*=UTF-8'a.zip; filename=b", "b"),
            ("attachment; filename*=''a.zip; filename=b", "b"), ("attachment; filename*=UTF-8''; filename=b", "b"),
            ("attachment; filename*=; filename=b", "b"), ("attachment; filename*=us-ascii''%C3%A9; filename=b", "b"),
            ("attachment; filename=\"\u{FFFD}\u{FFFD}.zip\"; filename*=UTF-8''c", "c"),
            ("attachment; filename=\"\u{FFFD}.zip\"", nil), ("attachment; filename*=UTF-8''%EF%BF%BD; filename=b", "b"),
            ("attachment; filename=\"\"", nil), ("attachment; filename=", nil), ("attachment; filename", nil),
            ("attachment", nil), ("", nil), (";;;", nil), ("=", nil), ("=;=\";=", nil),
            ("attachment; filename*0=a; filename*1=b", nil),
            ("attachment; xfilename=a", nil), ("attachment; filename=\"", nil), ("attachment; filename=\"\\", nil),
        ] as [(String, String?)])
    func nextBest(field: String, expected: String?) {
        #expect(ContentDisposition.fileName(field) == expected)
    }

    @Test(
        "ContentDisposition: random fields never trap and give no empty or damaged name",
        arguments: 0..<6 as Range<UInt64>)
    func fuzz(seed: UInt64) {
        var fuzz = SeededBytes(seed: seed)
        let pieces = [
            "attachment", ";", "filename", "filename*", "=", "\"", "\\", "UTF-8''", "'", "%", "%41", "%D6%D0", "=?",
            "?B?",
            "?Q?", "?=", "é", "\u{FFFD}",
        ]
        for _ in 0..<4000 {
            let field = "attachment; filename" + fuzz.text(from: pieces, upTo: 14)
            if let name = ContentDisposition.fileName(field) {
                #expect(
                    !name.isEmpty && !name.unicodeScalars.contains("\u{FFFD}"),
                    "seed \(seed): \(field.debugDescription)")
            }
        }
    }
}
