import Testing

@testable import Ferry

@Suite("Paths in the catalogue")
struct PathRootTests {
    @Test(
        "PathRoot: paths inside the directory are stored relative, and all are read back unchanged",
        arguments: [
            ("/dl", "/dl/a", "a"), ("/dl", "/dl/a/b c", "a/b c"), ("/dl", "/dl", "."), ("/dl/", "/dl/a", "a"),
            ("/dl//", "/dl/a", "a"), ("/dl", "/dlx/a", "/dlx/a"), ("/dl", "/", "/"), ("/dl", "", ""),
            ("/dl", "/dl/", "/dl/"), ("/dl", "/dl//a", "/dl//a"), ("/dl", "/dl/.", "/dl/."), ("/dl", "/dl/..", ".."),
            ("/dl", "/dl/../x", "../x"), ("/", "/a", "a"), ("/", "/", "."),
            ("/dl/e\u{301}", "/dl/\u{e9}/a", "/dl/\u{e9}/a"),
            ("/下载", "/下载/文件", "文件"),
        ])
    func paths(directory: String, path: String, stored: String) {
        let root = PathRoot(directory)
        #expect(Array(root.stored(path).utf8) == Array(stored.utf8))
        #expect(Array(root.absolute(root.stored(path)).utf8) == Array(path.utf8))
    }
}
