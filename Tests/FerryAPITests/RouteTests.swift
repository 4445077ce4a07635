import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import Testing

@Suite("Routes")
struct RouteTests {
    @Test("Route: every route is found by its own path, with its identifier", arguments: Route.allCases)
    func found(route: Route) {
        let path = route.path(id: "a/b %ü", session: "a/b %ü").dropFirst(FerryAPI.root.count)
        let identifier = route.template.contains("{") ? "a/b %ü" : ""
        #expect(Route.match(route.method, path) == .found(route, identifier: identifier))
    }

    @Test("Route: docs/daemon.md names every route, and those for the socket only")
    func documentation() throws {
        let text = try String(contentsOf: Self.root.appending(path: "docs/daemon.md"), encoding: .utf8)
        let table = text.split(separator: "\n").filter { $0.hasPrefix("| ") }.joined(separator: "\n")
        let destinations = try #require(text.split(separator: "**Destinations over TCP**").last)
        let local = try #require(destinations.split(separator: "\n- ").first)
        let apart: Set<Route> = [.openAPI]
        for route in Route.allCases where !apart.contains(route) {
            let word = route.template.split(separator: "/").last { !$0.hasPrefix("{") } ?? "/"
            #expect(table.contains(word), "\(route)")
            guard route.isLocalOnly else { continue }
            #expect(local.contains(route == .attach ? "attaching" : word), "\(route)")
        }
    }

    @Test("Documentation: every page of docs is linked from both of its indexes")
    func pages() throws {
        let docs = Self.root.appending(path: "docs")
        let names = try FileManager.default.contentsOfDirectory(atPath: docs.path)
        let indexes = ["README.md", "README.zh-CN.md"]
        let pages = names.filter { $0.hasSuffix(".md") && !indexes.contains($0) }
        #expect(pages.count > 5)
        for index in indexes {
            let text = try String(contentsOf: docs.appending(path: index), encoding: .utf8)
            for page in pages { #expect(text.contains("](\(page)"), "\(index): \(page)") }
        }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test("Route: fixed words of a path take precedence over identifiers")
    func words() {
        #expect(Route.match(.post, "/downloads/pause") == .found(.pauseMany, identifier: ""))
        #expect(Route.match(.get, "/downloads/pause") == .found(.show, identifier: "pause"))
        #expect(Route.match(.post, "/downloads/find") == .found(.find, identifier: ""))
        #expect(Route.match(.post, "/downloads/remove") == .found(.removeMany, identifier: ""))
        #expect(Route.match(.delete, "/downloads/remove") == .found(.remove, identifier: "remove"))
        #expect(Route.match(.post, "/downloads/resume-data") == .found(.addResumeData, identifier: ""))
    }

    @Test(
        "Route: unknown and malformed paths match no route",
        arguments: [
            "/", "/download", "/downloads/", "/downloads//pause", "/downloads/a/b/c", "//", "/downloads/%zz",
            "/downloads/%ff",
        ])
    func none(path: String) { #expect(Route.match(.get, path[...]) == .none) }

    @Test("Route: another method gets the list of allowed methods")
    func methods() {
        #expect(Route.match(.put, "/downloads") == .wrongMethod([.get, .post]))
        #expect(Route.match(.get, "/login") == .wrongMethod([.post]))
    }

    @Test("ListQuery: a query is parsed back as it was written")
    func queries() throws {
        var query = ListQuery()
        query.states = ["waiting", "failed"]
        query.search = "a b&c=ü"
        query.sort = .size
        query.order = .desc
        query.offset = 3
        query.limit = 5000
        query.session = "all"
        #expect(try ListQuery(QueryItems(query.text[...], known: ListQuery.names)) == query)
        #expect(try ListQuery(QueryItems(nil, known: ListQuery.names)) == ListQuery())
    }

    @Test(
        "ListQuery: an invalid or repeated parameter is refused",
        arguments: [
            "sort=x", "limit=0", "limit=2147483648", "limit=x", "offset=-1", "what=1", "limit=1&limit=2", "search=%zz",
        ])
    func badQueries(text: String) {
        #expect(throws: Problem.self) { try ListQuery(QueryItems(text[...], known: ListQuery.names)) }
    }
}
