#if canImport(Darwin)
    import FerryEngine
    import Foundation
    import Dispatch

    /// What the system offers to an app that is about to be suspended.
    enum BackgroundSession {
        /// Makes the sessions of a manager; `nil` for a list that is not kept.
        static func make(
            for configuration: DownloadManager.Configuration
        ) -> @Sendable (BackgroundTransfer) -> (any SystemTransferSession)? {
            guard configuration.storage.isKept, let identifier = configuration.storage.identifier else {
                return { _ in nil }
            }
            return { URLSessionTransfers.session(identifier, $0) }
        }

        /// Calls the body, and asks the system not to suspend the process meanwhile.
        static func expiringActivity(_ body: () async -> Void) async {
            #if os(macOS)
                await body()
            #else
                let isDone = DispatchSemaphore(value: 0)
                // The system calls the block on a thread of its own: to begin, and again when the time is over.
                ProcessInfo.processInfo.performExpiringActivity(withReason: "Ferry") { isExpired in
                    if isExpired { isDone.signal() } else { isDone.wait() }
                }
                await body()
                isDone.signal()
            #endif
        }
    }
#endif
