// A page that downloads one file: an address, a bar with percent, sizes, speed and state, four buttons, an alert at the end.
// 一个下载页面：网址、进度条、百分比、大小、速度、状态、四个按钮，结束时弹出提示。
#if canImport(SwiftUI)
    import Ferry
    import FerryUI
    import Foundation
    import SwiftUI

    // In an app this is `@main`.
    struct ScreenApp: App {
        static let manager = DownloadManager(
            .default(identifier: "com.example.screen", directory: URL.documentsDirectory.path)
                .continuingInBackground())

        var body: some Scene {
            WindowGroup { DownloadScreen(manager: Self.manager).downloadLifecycle(of: Self.manager) }
                .downloadEvents(of: Self.manager)
        }
    }

    struct DownloadScreen: View {
        let manager: DownloadManager
        @State private var address = "https://vjs.zencdn.net/v/oceans.mp4"
        @State private var item: DownloadItem?
        /// Counts the starts: each download is followed until its end.
        @State private var beginnings = 0
        @State private var message = ""
        @State private var isOver = false

        var body: some View {
            VStack(spacing: 16) {
                TextField(Words.address, text: $address).textFieldStyle(.roundedBorder)
                ProgressView(value: item?.fraction ?? 0)
                Text(item?.percentText ?? "0%").font(.title)
                Text(item?.sizeText ?? "–")
                Text(item?.speedText ?? "")
                Text(item?.stateText ?? Words.idle)
                HStack(spacing: 12) {
                    Button(Words.start) { act { try await start() } }.disabled(item.map { !hasEnded($0) } ?? false)
                    Button(Words.pause) { act { try await item?.download.pause() } }.disabled(!can(.pause))
                    Button(Words.resume) { act { try await resume() } }.disabled(!can(.resume))
                    Button(Words.cancel) { act { try await cancel() } }.disabled(!can(.cancel))
                }
            }
            .padding()
            .alert(message, isPresented: $isOver) {
                Button(Words.ok) {}
            }
            // A download that was listed when the app quit is shown again, and resumes unless it was paused.
            .task { act { if let first = try await manager.downloads().first { show(first) } } }
            .task(id: beginnings) { await follow() }
        }

        private func can(_ action: DownloadAction) -> Bool { item?.actions.contains(action) ?? false }

        private func hasEnded(_ item: DownloadItem) -> Bool {
            item.actions.contains(.restart) || item.actions.contains(.resume) && item.status.state.isFinal
        }

        private func start() async throws {
            // The same address returns the same download. If it has failed, it resumes with the bytes that it has; if it is paused,
            // it stays so, and the button for resuming is enabled.
            show(try await manager.download(from: DownloadURL(address)))
        }

        private func resume() async throws {
            guard let download = item?.download else { return }
            try await download.resume()
            show(download)
        }

        private func show(_ download: Download) { (item, beginnings) = (DownloadItem(download), beginnings + 1) }

        private func cancel() async throws {
            let download = item?.download
            item = nil
            try await download?.remove()
        }

        /// Shows the status until the download has ended, then reports the outcome.
        private func follow() async {
            guard let item else { return }
            for await _ in item.download.updates(every: .seconds(1)) { item.refresh() }
            item.refresh()
            switch item.status.state {
            case .completed: say(Words.completed, item.status.path ?? "")
            case .failed(let error): say(Words.failed, error.localizedDescription)
            default: break
            }
        }

        private func say(_ title: String, _ text: String) { (message, isOver) = (title + "\n" + text, true) }

        private func act(_ action: @escaping @MainActor () async throws -> Void) {
            Task { do { try await action() } catch { say(Words.failed, error.localizedDescription) } }
        }
    }
#endif
