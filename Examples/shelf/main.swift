// The parts of an app with a manager that keeps its list: add, pause, resume, and continue after a kill.
//
//     swift run example-shelf DIRECTORY
//
// Type `help`. Kill it in the middle (kill -9) and start it again: the list is restored, and running downloads resume.

import Ferry
import Foundation

guard CommandLine.arguments.count == 2 else {
    print("usage: example-shelf DIRECTORY")
    exit(2)
}
let folder = CommandLine.arguments[1]
let manager = DownloadManager(
    .default(identifier: "example-shelf", directory: folder, stateDirectory: folder + "/.shelf"))
let narrator = Narrator()

/// The lines of standard input, read on their own thread because reading blocks.
let lines = AsyncStream<String> { continuation in
    Thread.detachNewThread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
    }
}

@MainActor func show() async throws {
    let downloads = try await manager.downloads()
    for (number, download) in downloads.enumerated() {
        let status = download.status
        let size = ByteText.progress(
            completed: status.progress.completedBytes, total: status.progress.totalBytes)
        let speed = status.state == .downloading ? ByteText.rate(status.progress.bytesPerSecond) : ""
        print("\(number + 1)  \(status.name)  \(size)  \(status.state.text(in: .english))  \(speed)")
    }
    if downloads.isEmpty { print("nothing is listed; add URL") }
}

/// Returns the download that a command refers to by its number in the list.
@MainActor func chosen(_ argument: String) async throws -> Download {
    let downloads = try await manager.downloads()
    guard let number = Int(argument), downloads.indices.contains(number - 1) else {
        throw DownloadError(.notFound, "there is no number \(argument) in the list")
    }
    return downloads[number - 1]
}

@MainActor func obey(_ command: String, _ argument: String) async throws {
    switch command {
    case "add":
        let source = try DownloadURL(argument)
        _ = try await manager.download(DownloadRequest(sources: [source], destination: .directory(folder)))
    case "list", "": try await show()
    case "pause" where argument.isEmpty: try await manager.pauseAll()
    case "resume" where argument.isEmpty: try await manager.resumeAll()
    case "pause": try await chosen(argument).pause()
    case "resume": try await chosen(argument).resume()
    case "cancel": try await chosen(argument).cancel()
    case "first": try await chosen(argument).moveInList(to: .first)
    case "limit":
        let count = Int(argument) ?? 3
        await manager.configure { $0.maxConcurrentDownloads = count }
    case "remove": try await chosen(argument).remove()
    case "clear": try await manager.clear(.all)
    default: print("add URL, list, pause [N], resume [N], cancel N, first N, limit COUNT, remove N, clear, quit")
    }
}

do {
    manager.setDelegate(narrator)
    try await manager.activate()  // opens the list, and resumes what ran or waited
    try await show()
    for await line in lines {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        if words.first == "quit" { break }
        do {
            try await obey(words.first ?? "", words.count > 1 ? words[1] : "")
        } catch {
            print(error)
        }
    }
    await manager.shutdown()
} catch {
    print(error)
    exit(1)
}
