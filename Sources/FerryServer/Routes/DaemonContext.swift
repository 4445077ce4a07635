package import Hummingbird
import NIOCore

/// The connection of a request.
package struct DaemonContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// Whether the connection uses the Unix socket, whose peer is always this user.
    let isLocal: Bool
    let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        if case .unixDomainSocket = source.channel.localAddress { isLocal = true } else { isLocal = false }
    }
}
