// A test app whose download continues without it, in a background session of the system.
//
//     ferry-background begin URL DIRECTORY     begins, hands over, prints "handed over", and waits to be killed
//     ferry-background finish DIRECTORY        is started again: takes the system's files and events
//
// The app's own requests have the User-Agent ferry-background/app, those of the system ferry-background/system.
// On systems without such sessions, `finish` continues the download itself.

import Ferry
import Foundation

guard CommandLine.arguments.count > 2 else {
    print("usage: ferry-background begin URL DIRECTORY | finish DIRECTORY")
    exit(2)
}
let arguments = CommandLine.arguments.dropFirst()
let directory = arguments.last ?? "."
var transfer = BackgroundTransfer()
// The tests use a server on this machine.
transfer.ignoredSettings = [.unencrypted]
var configuration = DownloadManager.Configuration.default(
    identifier: "com.example.ferry-background", directory: directory, stateDirectory: directory + "/state"
).continuingInBackground(transfer)
configuration.transfer.userAgent = "ferry-background/app"
let manager = DownloadManager(configuration)

/// Prints a line for the script immediately.
func say(_ text: String) {
    print(text)
    fflush(nil)
}

do {
    if arguments.first == "begin" {
        let download = try await manager.download(from: DownloadURL(arguments[arguments.startIndex + 1]))
        for await status in download.updates where status.progress.completedBytes > 0 { break }
        let events = manager.events
        // The requests that are handed over use the settings at this moment.
        await manager.configure { $0.transfer.userAgent = "ferry-background/system" }
        await manager.suspend()
        say("handed over after \(download.status.progress.completedBytes) bytes")
        // If a download is not handed over, an event gives the reason.
        for await event in events { if let reason = event.reason(in: .english) { say(reason) } }
    } else {
        // allow(platform): only Apple's systems continue downloads.
        #if canImport(Darwin)
            // As after a start by the system. Ends when the file is published; the script limits the time.
            let part = try FileManager.default.contentsOfDirectory(atPath: directory).first { name in
                name.utf8.suffix(5).elementsEqual(".part".utf8)
            }
            while let part, FileManager.default.fileExists(atPath: directory + "/" + part) {
                await manager.finishBackgroundEvents()
                try await Task.sleep(for: .seconds(1))
            }
        #endif
        let events = manager.events
        try await manager.activate()
        for await event in events {
            guard case .completed(let file) = event.kind else { continue }
            say("completed \(file.path) \(file.proof.rawValue)")
            event.acknowledge()
            break
        }
        await manager.shutdown()
    }
} catch {
    say("failed: \(error)")
    exit(1)
}
