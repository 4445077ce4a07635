import FerryCore
import Testing

@Suite("Exact names")
struct ExactNameTests {
    @Test(
        "Destination: a usable exact name is taken unchanged",
        arguments: ["a", "a b.txt", ".hidden", "-x", "名.zip", String(repeating: "n", count: 240)])
    func usable(name: String) throws {
        let destination = DownloadRequest.Destination.directory("/d", name: .exact(name))
        #expect(try destination.resolved() == .file("/d/" + name))
    }

    @Test(
        "Destination: an exact name that is empty, too long or a path is refused",
        arguments: [
            "", ".", "..", "a/b", "/", "../x", "a\0b", String(repeating: "n", count: 241),
            String(repeating: "名", count: 81),
        ])
    func unusable(name: String) {
        let destination = DownloadRequest.Destination.directory("/d", name: .exact(name))
        #expect { try destination.resolved() } throws: { ($0 as? DownloadError)?.code == .invalidRequest }
    }

    @Test("Destination: resolving leaves every other kind of destination unchanged")
    func others() throws {
        let all: [DownloadRequest.Destination] = [.directory("/d"), .file("/d/.."), .part("/x.part"), .stream(1)]
        for destination in all { #expect(try destination.resolved() == destination) }
        #expect(try DownloadRequest.Destination.directory("d/", name: .exact("x")).resolved() == .file("d/x"))
        #expect(try DownloadRequest.Destination.directory("", name: .exact("x")).resolved() == .file("x"))
    }
}
