import Ferry
import Foundation
import Testing

@testable import FerryTerminal

@Suite("SubmissionWindow") struct SubmissionWindowTests {
    private func window(
        _ list: String, places: Int, share: Int, isFed: Bool = false
    ) throws -> (window: SubmissionWindow, items: PlannedItems) {
        var world = PlanningWorld.test()
        world.openList = { path throws(UsageError) in ListFile(name: path, text: list) }
        let items = try GetPlanner.plan(.of { $0.files.lists = ["l"] }, world: world).items
        return (SubmissionWindow(places: places, share: share, items: items.makeIterator(), isFed: isFed), items)
    }

    /// Takes what can be submitted; counts what is set aside.
    private func take(_ window: inout SubmissionWindow) -> (urls: [String], aside: Int, isEnd: Bool) {
        var (urls, aside) = ([String](), 0)
        while let next = window.take() {
            switch next {
            case .request(let request, _, _): urls.append(request.sources[0].text)
            case .aside: aside += 1
            case .directory, .unusable: break
            case .end: return (urls, aside, true)
            }
        }
        return (urls, aside, false)
    }

    @Test("SubmissionWindow: of a list that begins with one host, entries of the others are submitted too")
    func sorted() throws {
        let list = (0..<1000).map { "http://slow/\($0)\n" }.joined() + "http://b/0\nhttp://c/0\n"
        var (window, _) = try window(list, places: 8, share: 3)
        #expect(window.mayHaveOthers)
        let first = take(&window)
        #expect(!window.mayHaveOthers)
        // The list is at its end, so that the first host gets what is left.
        #expect(
            first.urls
                == ["http://slow/0", "http://slow/1", "http://slow/2", "http://b/0", "http://c/0"]
                + (3..<6).map { "http://slow/\($0)" })
        #expect(first.aside == 997 && !first.isEnd)
        window.free("b")
        #expect(take(&window).urls == ["http://slow/6"])
    }

    @Test("SubmissionWindow: the entries of a host keep their order, each is taken once, and then the end is told")
    func whole() throws {
        let hosts = ["a", "b", "c"]
        let lines = (0..<300).map { number in (host: hosts[number * number % 7 % 3], number: number) }
        var (window, _) = try window(
            lines.map { "http://\($0.host)/\($0.number)\n" }.joined(), places: 10, share: 2)
        var taken: [String] = []
        var open: [String] = []
        while true {
            let next = take(&window)
            taken += next.urls
            open += next.urls
            #expect(open.count <= 10)
            if next.isEnd { break }
            guard !open.isEmpty else {
                Issue.record("nothing can be taken")
                return
            }
            let url = open.removeFirst()
            window.free(String(url.dropFirst("http://".count).prefix { $0 != "/" }))
        }
        #expect(Set(taken).count == 300 && taken.count == 300)
        for host in hosts {
            #expect(
                taken.filter { $0.hasPrefix("http://\(host)/") }
                    == lines.filter { $0.host == host }.map { "http://\(host)/\($0.number)" })
        }
    }

    @Test("SubmissionWindow: entries that are read again keep their numbers and options")
    func reread() throws {
        let list = (0..<50).map { "http://slow/\($0)\n  out=file\($0)\n" }.joined() + "http://b/0\n"
        var (window, _) = try window(list, places: 4, share: 1)
        var outputs: [String] = []
        var places: [Int] = []
        var open: [String?] = []
        var isOver = false
        while !isOver {
            while !isOver, let next = window.take() {
                if case .end = next { isOver = true }
                guard case .request(let request, let place, _) = next else { continue }
                if case .file(let path) = request.destination { outputs.append(path) }
                places.append(place?.number ?? 0)
                open.append(request.host)
            }
            if !isOver { window.free(open.removeFirst()) }
        }
        #expect(outputs.count == 50 && outputs.last?.hasSuffix("file49") == true)
        #expect(places.sorted() == Array(1...51))
    }

    @Test("SubmissionWindow: a list of one host is submitted as if there was no share")
    func single() throws {
        var (window, _) = try window((0..<20).map { "http://a/\($0)\n" }.joined(), places: 8, share: 3)
        #expect(take(&window).urls == (0..<8).map { "http://a/\($0)" })
    }
}
