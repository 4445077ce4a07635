// An app of the tests whose download goes on without it, in a background session of the system.
//
//     ferry-background begin URL DIRECTORY     begins, hands over, says "handed over", and waits to be killed
//     ferry-background finish DIRECTORY        is started again: takes what the system has brought, and its events
//
// The app's own requests have the User-Agent ferry-background/app, those of the system ferry-background/system.
// Where no system goes on with downloads, `finish` goes on itself.

import Ferry
import Foundation

guard CommandLine.arguments.count > 2 else {
    print("usage: ferry-background begin URL DIRECTORY | finish DIRECTORY")
    exit(2)
}
let arguments = CommandLine.arguments.dropFirst()
let directory = arguments.last ?? "."
var transfer = BackgroundTransfer()
// The server of the tests is one of this machine.
transfer.ignoredSettings = [.unencrypted]
var configuration = DownloadManager.Configuration.default(
    identifier: "com.example.ferry-background", directory: directory, stateDirectory: directory + "/state"
).continuingInBackground(transfer)
configuration.transfer.userAgent = "ferry-background/app"
let manager = DownloadManager(configuration)

/// A line for the script, at once.
func say(_ text: String) {
    print(text)
    fflush(nil)
}

do {
    if arguments.first == "begin" {
        let download = try await manager.download(from: DownloadURL(arguments[arguments.startIndex + 1]))
        for await status in download.updates where status.progress.completedBytes > 0 { break }
        let events = manager.events
        // What is handed over is requested with the settings of this moment.
        await manager.configure { $0.transfer.userAgent = "ferry-background/system" }
        await manager.suspend()
        say("handed over after \(download.status.progress.completedBytes) bytes")
        // A download that stays with the app says why.
        for await event in events { if let reason = event.reason(in: .english) { say(reason) } }
    } else {
        // allow(platform): only there a system goes on.
        #if canImport(Darwin)
            // The system has started the app: until its file is published, or the script loses its patience.
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
