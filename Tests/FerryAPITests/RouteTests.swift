import FerryAPI
import HTTPTypes
import Testing

@Suite("Routes")
struct RouteTests {
    @Test("every route is found by its own path, with its identifier", arguments: Route.allCases)
    func found(route: Route) {
        let path = route.path(id: "a/b %ü", session: "a/b %ü").dropFirst(FerryAPI.root.count)
        let identifier = route.template.contains("{") ? "a/b %ü" : ""
        #expect(Route.match(route.method, path) == .found(route, identifier: identifier))
    }

    @Test("words of the table go before identifiers")
    func words() {
        #expect(Route.match(.post, "/downloads/pause") == .found(.pauseMany, identifier: ""))
        #expect(Route.match(.get, "/downloads/pause") == .found(.show, identifier: "pause"))
        #expect(Route.match(.post, "/downloads/resume-data") == .found(.addResumeData, identifier: ""))
    }

    @Test(
        "other paths lead nowhere",
        arguments: [
            "/", "/download", "/downloads/", "/downloads//pause", "/downloads/a/b/c", "//", "/downloads/%zz",
            "/downloads/%ff",
        ])
    func none(path: String) { #expect(Route.match(.get, path[...]) == .none) }

    @Test("another method is told which there are")
    func methods() {
        #expect(Route.match(.put, "/downloads") == .wrongMethod([.get, .post]))
        #expect(Route.match(.get, "/login") == .wrongMethod([.post]))
    }

    @Test("a query is read as a list query writes it")
    func queries() throws {
        var query = ListQuery()
        query.states = ["waiting", "failed"]
        query.search = "a b&c=ü"
        query.sort = .size
        query.order = .desc
        query.offset = 3
        query.limit = 1000
        query.session = "all"
        #expect(try ListQuery(QueryItems(query.text[...], known: ListQuery.names)) == query)
        #expect(try ListQuery(QueryItems(nil, known: ListQuery.names)) == ListQuery())
    }

    @Test(
        "a query that cannot be meant is refused",
        arguments: [
            "sort=x", "limit=0", "limit=1001", "limit=x", "offset=-1", "what=1", "limit=1&limit=2", "search=%zz",
        ])
    func badQueries(text: String) {
        #expect(throws: Problem.self) { try ListQuery(QueryItems(text[...], known: ListQuery.names)) }
    }
}
