import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryAPI
@testable import FerryClient

@Suite("A daemon whose answer is lost", .timeLimit(.minutes(30)))
struct LostAnswerTests {
    @Test(
        "Resume data: it is returned although the connection breaks before the answer, and the download goes on with it"
    )
    func resumeData() async throws {
        try await BackendHome.run(.daemon) { home in
            let resource = home.shop.serve(["/a"], [.stall(after: 1_000_000)])
            let proxy = try LosingProxy(before: try #require(home.daemon).socket, losing: "/resume-data")
            let place = DaemonAddress.test(proxy.socket, directory: home.shop.directory)
            let manager = DownloadManager(DownloadManager.Configuration(daemon: place))
            let download = try await manager.download(home.request("/a"))
            await home.shop.reach(1_000_000, download)
            let data = try await download.cancelByProducingResumeData()
            #expect(proxy.losses == 1)
            #expect(data.id == download.id)
            #expect(try await manager.download(id: data.id) == nil)
            let again = try await manager.download(resumingWith: data)
            #expect(try await again.finished().path == home.shop.path("a"))
            home.shop.expect(home.shop.path("a"), is: resource)
            await manager.shutdown()
        }
    }
}
