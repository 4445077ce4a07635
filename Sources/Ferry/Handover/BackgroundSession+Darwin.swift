#if canImport(Darwin)
    import FerryEngine
    import Foundation
    import Dispatch

    /// The system's services for an app that is about to be suspended.
    enum BackgroundSession {
        /// Makes the session of a manager; `nil` if the manager does not store its list.
        static func make(
            for configuration: DownloadManager.Configuration
        ) -> @Sendable (BackgroundTransfer) -> (any SystemTransferSession)? {
            guard configuration.storage.isKept, let identifier = configuration.storage.identifier else {
                return { _ in nil }
            }
            return { URLSessionTransfers.session(identifier, $0) }
        }

        /// Calls `body`, and asks the system not to suspend the process meanwhile.
        static func expiringActivity(_ body: () async -> Void) async {
            #if os(macOS)
                await body()
            #else
                let isDone = DispatchSemaphore(value: 0)
                // The system calls the block on a separate thread: first to begin, and again when the time has expired.
                ProcessInfo.processInfo.performExpiringActivity(withReason: "Ferry") { isExpired in
                    if isExpired { isDone.signal() } else { isDone.wait() }
                }
                await body()
                isDone.signal()
            #endif
        }
    }
#endif
