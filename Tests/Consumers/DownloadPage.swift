// The page and its preview, where there is SwiftUI.
#if canImport(SwiftUI)
    import Ferry
    import FerryTestSupport
    import FerryUI
    import Foundation
    import SwiftUI

    struct DownloadPage: View {
        let model: DownloadModel

        var body: some View {
            VStack(spacing: 16) {
                ProgressView(value: model.item?.fraction ?? 0)
                Text(model.item?.sizeText ?? "–")
                Text(model.message ?? model.item?.stateText ?? "")
                HStack(spacing: 12) {
                    Button("Pause") { Task { await model.pause() } }.disabled(!model.can(.pause))
                    Button("Resume") { Task { await model.resume() } }.disabled(!model.can(.resume))
                    Button("Cancel") { Task { await model.cancel() } }.disabled(!model.can(.cancel))
                }
            }
            .task(id: model.item?.id) { await model.follow() }
        }
    }

    /// The page while a file of a script stands at 40 %.
    struct DownloadPagePreviews: PreviewProvider {
        private static let film = ScriptedFile("/film.mp4", bytes: 1_000_000, pace: .stops(at: 400_000))

        static var previews: some View {
            let model = DownloadModel(manager: DownloadManager(.scripted([film])))
            DownloadPage(model: model).task {
                await model.start(
                    "https://example.com/film.mp4", into: FileManager.default.temporaryDirectory,
                    referer: "app://preview")
            }
        }
    }
#endif
