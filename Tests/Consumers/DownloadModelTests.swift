// The tests of the page, as an app writes them: without a network, and without a wait.
#if canImport(Testing)
    import Ferry
    import FerryTestSupport
    import FerryUI
    import Foundation
    import Testing

    @Suite("An app's own tests of its page", .timeLimit(.minutes(5)))
    @MainActor
    struct DownloadModelTests {
        private let folder = FileManager.default.temporaryDirectory.appending(path: "ferry-" + UUID().uuidString)

        @Test("DownloadModel: a file that arrives is named in the message, and the delegate is told")
        func arrives() async throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let film = ScriptedFile("/film.mp4", bytes: 300_000)
            let manager = DownloadManager(.scripted([film]))
            let journal = DownloadJournal()
            manager.setDelegate(journal)
            let model = DownloadModel(manager: manager)
            await model.start("https://example.com/film.mp4", into: folder, referer: "app://test")
            #expect(model.item?.download.request.header("referer") == "app://test")
            await model.follow()
            #expect(model.message == "film.mp4")
            #expect(!model.can(.pause))
            await manager.finishAndShutDown()
            #expect(journal.lines == ["film.mp4"])
        }

        @Test("DownloadModel: a download that stands still can be paused, resumed and cancelled")
        func buttons() async throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let film = ScriptedFile("/film.mp4", bytes: 1_000_000, pace: .stops(at: 400_000))
            let manager = DownloadManager(.scripted([film]))
            let model = DownloadModel(manager: manager)
            await model.start("https://example.com/film.mp4", into: folder, referer: "app://test")
            let download = try #require(model.item?.download)
            for await status in download.updates where status.progress.completedBytes == 400_000 { break }
            model.item?.refresh()
            #expect(model.item?.fraction == 0.4)
            #expect(try await manager.countsByState() == [.downloading: 1])
            #expect(manager.busyHosts.map(\.origin) == [Origin(of: try DownloadURL("https://example.com/"))])
            #expect(model.can(.pause))
            await model.pause()
            model.item?.refresh()
            #expect(model.can(.resume))
            await model.resume()
            await model.cancel()
            #expect(model.item == nil)
            #expect(model.message == nil)
            #expect(try await manager.downloads().isEmpty)
            #expect(try await manager.countsByState().isEmpty)
            await manager.shutdown()
        }

        @Test("DownloadModel: an address that is no URL, and a file that is not there, are told in the message")
        func refused() async throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let manager = DownloadManager(.scripted([.refused("/gone.mp4", status: 410)]))
            let model = DownloadModel(manager: manager)
            await model.start("mailto:someone", into: folder, referer: "app://test")
            #expect(model.message != nil)
            #expect(model.item == nil)
            await model.start("https://example.com/gone.mp4", into: folder, referer: "app://test")
            await model.follow()
            #expect(model.message?.contains("410") == true)
            await manager.shutdown()
        }

        @Test("DownloadModel: the token of all downloads is for the app's own server alone")
        func headers() throws {
            let server = try #require(URL(string: "https://example.com/films"))
            let settings = try DownloadModel.configuration(token: "t", server: server, folder: folder).transfer
            #expect(settings.header("Authorization", for: Origin(of: try DownloadURL(server))) == "Bearer t")
            #expect(settings.header("Authorization", for: Origin(of: try DownloadURL("https://other.test/"))) == nil)
            #expect(settings.header("Accept-Language") == "de")
        }
    }
#endif
