import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import FerryServer

@Suite("API: the list", .timeLimit(.minutes(30)))
struct APIListTests {
    @Test("API list: it is filtered, searched, sorted and paged, and an invalid query is refused with 400")
    func listing() async throws {
        try await DaemonRig.run { rig in
            var downloads: [RawRequest] = []
            for (index, name) in ["Beta.iso", "alpha.bin", "gamma_50%.txt", "Alpha2.bin"].enumerated() {
                downloads.append(
                    rig.new("/file/\(index + 1)k") {
                        $0.name = name
                        $0.startsPaused = true
                        $0.label = index == 2 ? "Special" : nil
                    })
            }
            _ = try await rig.ask(.add, body: RawRequests(downloads))
            func names(_ query: String) async throws -> [String] {
                let reply = try await rig.ask(.list, query: query)
                return try reply.shape(DownloadPage.self).items.map(\.status.name)
            }
            #expect(try await names("") == ["Beta.iso", "alpha.bin", "gamma_50%.txt", "Alpha2.bin"])
            #expect(try await names("sort=name") == ["alpha.bin", "Alpha2.bin", "Beta.iso", "gamma_50%.txt"])
            #expect(try await names("sort=name&order=desc&limit=2") == ["gamma_50%.txt", "Beta.iso"])
            #expect(try await names("sort=queue&order=desc&limit=1") == ["Alpha2.bin"])
            #expect(try await names("offset=1&limit=2") == ["alpha.bin", "gamma_50%.txt"])
            #expect(try await names("search=ALPHA") == ["alpha.bin", "Alpha2.bin"])
            #expect(try await names("search=special") == ["gamma_50%.txt"])
            #expect(try await names("search=%25") == ["gamma_50%.txt"])
            #expect(try await names("search=_5") == ["gamma_50%.txt"])
            #expect(try await names("search=nothing").isEmpty)
            #expect(try await names("state=paused").count == 4)
            #expect(try await names("state=completed,failed").isEmpty)
            let page = try await rig.ask(.list, query: "search=alpha&limit=1&offset=1").shape(DownloadPage.self)
            #expect(page.total == 2)
            #expect(page.offset == 1)
            for bad in ["state=asleep", "sort=x", "limit=0", "nonsense=1"] {
                #expect(try await rig.ask(.list, query: bad).status == 400)
            }
        }
    }

    @Test("API list: one response has a list of any length, in its order")
    func whole() async throws {
        try await DaemonRig.run { rig in
            let names = (0..<2300).map { "\(10_000 + $0)" }
            let new = names.map { name in
                rig.new("/file/1k?\(name)") {
                    $0.name = name
                    $0.startsPaused = true
                }
            }
            #expect(try await rig.ask(.add, body: RawRequests(new)).status == 201)
            func page(_ query: String) async throws -> DownloadPage {
                try await rig.ask(.list, query: query).shape(DownloadPage.self)
            }
            let all = try await page("limit=2147483647")
            #expect(all.items.map(\.status.name) == names)
            #expect(all.total == 2300)
            #expect(
                all.items == (try await page("limit=1000").items) + (try await page("offset=1000&limit=1300").items))
            let some = try await page("sort=name&order=desc&offset=100&limit=2000")
            #expect(some.items.map(\.status.name) == Array(names.reversed().dropFirst(100).prefix(2000)))
            #expect(some.offset == 100)
            let behind = try await page("offset=3000&limit=2000")
            #expect(behind == DownloadPage(items: [], total: 2300, offset: 3000, asOf: behind.asOf))
            #expect(try await page("state=failed&limit=2000").items.isEmpty)
        }
    }

    @Test("API list: a download moves to either end, beside another download, or to an index")
    func moving() async throws {
        try await DaemonRig.run { rig in
            var ids: [String] = []
            for name in ["a", "b", "c", "d"] {
                ids.append(
                    try await rig.add(
                        rig.new("/file/1k") {
                            $0.name = name
                            $0.startsPaused = true
                        }
                    ).id.rawValue)
            }
            func id(_ index: Int) -> DownloadID { DownloadID(rawValue: ids[index]) }
            func move(_ index: Int, _ to: ListPlacement) async throws -> String {
                let reply = try await rig.ask(.move, id: ids[index], body: to)
                #expect(reply.status == 200, "\(reply.text)")
                return try await rig.ask(.list).shape(DownloadPage.self).items.map(\.status.name).joined()
            }
            #expect(try await move(3, .first) == "dabc")
            #expect(try await move(3, .last) == "abcd")
            #expect(try await move(0, .after(id(2))) == "bcad")
            #expect(try await move(3, .before(id(2))) == "bdca")
            #expect(try await move(0, .index(1)) == "badc")
            #expect(try await move(1, .index(2)) == "adbc")
            #expect(try await move(0, .index(99)) == "dbca")
            #expect(try await move(0, .index(0)) == "adbc")
            let none = ListPlacement.before(DownloadID(rawValue: "none"))
            #expect(try await rig.ask(.move, id: ids[0], body: none).status == 404)
        }
    }
}
