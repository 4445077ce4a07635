package import FerryCore
import NIOCore
import Synchronization

/// Sends notifications about downloads to the clients on WebSockets.
final class Aria2Notifier: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var events = Aria2Events()
    }
    private let state = Mutex(State())

    /// Adds a connection until it closes.
    func enter(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        guard state.withLock({ $0.channels.updateValue(channel, forKey: id) }) == nil else { return }
        channel.closeFuture.whenComplete { [self] _ in state.withLock { $0.channels[id] = nil } }
    }

    func tell(_ event: DownloadEvent) {
        let (notification, channels) = state.withLock { ($0.events.take(event), Array($0.channels.values)) }
        guard let notification, !channels.isEmpty else { return }
        let value = JSONRPC.notification(notification, gid: Aria2GID(event.id).description)
        guard let data = try? JSONCoding.encode(value) else { return }
        let notice = Aria2Socket.Notice(text: ByteBuffer(bytes: data))
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(notice) }
    }
}

/// Maps events to notifications. A start is reported only once until the download pauses or ends. Pure.
package struct Aria2Events: Sendable {
    private var started: Set<DownloadID> = []

    package init() {}

    /// Returns the notification of an event; `nil` if the event has none.
    package mutating func take(_ event: DownloadEvent) -> Aria2Notification? {
        let notification: Aria2Notification
        switch event.kind {
        case .started, .resumed: return started.insert(event.id).inserted ? .start : nil
        case .paused: notification = .pause
        case .cancelled: notification = .stop
        case .completed: notification = .complete
        case .failed, .waiting(.freshLink, _), .waiting(.credentials, _): notification = .error
        case .waiting:
            started.remove(event.id)
            return nil
        case .added, .retrying, .restarted, .note: return nil
        }
        started.remove(event.id)
        return notification
    }
}
