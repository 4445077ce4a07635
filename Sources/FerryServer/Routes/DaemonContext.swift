package import Hummingbird
import NIOCore

/// What is known of a request's connection.
package struct DaemonContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// It came through the Unix socket, from this user.
    let isLocal: Bool
    let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        if case .unixDomainSocket = source.channel.localAddress { isLocal = true } else { isLocal = false }
    }
}
