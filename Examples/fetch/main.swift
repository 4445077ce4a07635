// Downloads one file and shows its progress. After a kill the same command resumes.
//
//     swift run example-fetch URL [DIRECTORY]

import Ferry
import Foundation

guard (2...3).contains(CommandLine.arguments.count) else {
    print("usage: example-fetch URL [DIRECTORY]")
    exit(2)
}
let directory = CommandLine.arguments.count > 2 ? CommandLine.arguments[2] : "."

let manager = DownloadManager(.ephemeral)
do {
    let source = try DownloadURL(CommandLine.arguments[1])
    let download = try await manager.download(
        DownloadRequest(sources: [source], destination: .directory(directory)))

    // Only the latest value, at most about ten times a second; the loop ends with the download.
    for await status in download.updates {
        let progress = status.progress
        let fields = [
            status.name, ByteText.percent(progress.fraction, isComplete: progress.fraction == 1),
            ByteText.progress(completed: progress.completedBytes, total: progress.totalBytes),
            ByteText.rate(progress.bytesPerSecond), ByteText.duration(progress.timeRemaining),
        ]
        print("\u{1B}[2K\r" + fields.joined(separator: "  "), terminator: "")
        fflush(nil)
    }

    let finished = try await download.finished()
    print("\n\(finished.path)  \(finished.totalBytes) bytes, proof: \(finished.proof.rawValue)")
    await manager.shutdown()
} catch {
    print("\n\(error)")
    await manager.shutdown()
    exit(1)
}
