/// The methods of aria2's RPC interface that the daemon implements, in aria2's order.
///
/// The other methods, `addTorrent` and `getPeers`, return the same error as an aria2 that was built without BitTorrent.
package enum Aria2Method: String, Sendable, CaseIterable {
    case addUri = "aria2.addUri"
    case addMetalink = "aria2.addMetalink"
    case remove = "aria2.remove"
    case pause = "aria2.pause"
    case forcePause = "aria2.forcePause"
    case pauseAll = "aria2.pauseAll"
    case forcePauseAll = "aria2.forcePauseAll"
    case unpause = "aria2.unpause"
    case unpauseAll = "aria2.unpauseAll"
    case forceRemove = "aria2.forceRemove"
    case changePosition = "aria2.changePosition"
    case tellStatus = "aria2.tellStatus"
    case getUris = "aria2.getUris"
    case getFiles = "aria2.getFiles"
    case getServers = "aria2.getServers"
    case tellActive = "aria2.tellActive"
    case tellWaiting = "aria2.tellWaiting"
    case tellStopped = "aria2.tellStopped"
    case getOption = "aria2.getOption"
    case changeUri = "aria2.changeUri"
    case changeOption = "aria2.changeOption"
    case getGlobalOption = "aria2.getGlobalOption"
    case changeGlobalOption = "aria2.changeGlobalOption"
    case purgeDownloadResult = "aria2.purgeDownloadResult"
    case removeDownloadResult = "aria2.removeDownloadResult"
    case getVersion = "aria2.getVersion"
    case getSessionInfo = "aria2.getSessionInfo"
    case shutdown = "aria2.shutdown"
    case forceShutdown = "aria2.forceShutdown"
    case getGlobalStat = "aria2.getGlobalStat"
    case saveSession = "aria2.saveSession"
    case multicall = "system.multicall"
    case listMethods = "system.listMethods"
    case listNotifications = "system.listNotifications"

    /// Whether the method requires no token, because it lists names or calls other methods, each with its own token.
    package var isOpen: Bool { [.multicall, .listMethods, .listNotifications].contains(self) }
}

/// A notification that clients on a WebSocket receive.
package enum Aria2Notification: String, Sendable, CaseIterable {
    case start = "aria2.onDownloadStart"
    case pause = "aria2.onDownloadPause"
    case stop = "aria2.onDownloadStop"
    case complete = "aria2.onDownloadComplete"
    case error = "aria2.onDownloadError"
}

/// An error of a call, as the client receives it.
package struct Aria2Error: Error, Sendable, Hashable {
    package var code = 1
    package var message: String

    package init(_ message: String, code: Int = 1) {
        self.message = message
        self.code = code
    }

    static let unauthorized = Aria2Error("Unauthorized")
}
