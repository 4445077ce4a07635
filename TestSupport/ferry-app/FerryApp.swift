import Ferry
import Foundation

/// An app that downloads and is killed, for the tests of relaunches.
///
/// `ferry-app SETTINGS`, where SETTINGS is one JSON object (``AppSettings``). Reads commands as lines of JSON from
/// standard input (``AppCommand``), runs them in order, prints results and events as lines of JSON, and exits at the
/// end of its input.
@main struct FerryApp {
    static func main() async throws {
        if CommandLine.arguments.dropFirst().first == "fall" {
            await AppFall.run(Array(CommandLine.arguments.dropFirst(2)))
        }
        if CommandLine.arguments.dropFirst() == ["trap"] { AppTrap.run() }
        guard CommandLine.arguments.count == 2,
            let settings = try? JSONDecoder().decode(AppSettings.self, from: Data(CommandLine.arguments[1].utf8))
        else {
            FileHandle.standardError.write(Data("usage: ferry-app SETTINGS\n".utf8))
            exit(64)
        }
        if let report = settings.report {
            let descriptor = open(report, O_WRONLY)
            guard descriptor >= 0, dup2(descriptor, 1) == 1 else { exit(66) }
            close(descriptor)
        }
        let session = AppSession(settings)
        session.listen()
        if settings.report != nil {
            await session.answerLaunch()
            exit(0)
        }
        for await line in lines() {
            guard let command = try? JSONDecoder().decode(AppCommand.self, from: Data(line.utf8)) else {
                AppSession.say(["reply": "?", "error": "unreadable"])
                continue
            }
            await session.obey(command)
        }
        exit(0)
    }

    /// The lines of standard input.
    private static func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }
}
