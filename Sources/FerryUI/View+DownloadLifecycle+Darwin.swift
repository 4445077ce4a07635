#if canImport(Darwin)
    public import Ferry
    public import SwiftUI

    extension View {
        /// Suspends the manager when the scene goes to the background, and activates it when the scene is active.
        ///
        /// ```swift
        /// WindowGroup { ContentView().downloadLifecycle(of: manager) }
        /// ```
        ///
        /// For apps with one scene. On macOS, where apps are not suspended, the manager is only activated.
        public func downloadLifecycle(of manager: DownloadManager) -> some View {
            modifier(DownloadLifecycle(manager: manager))
        }
    }

    extension Scene {
        /// Handles the events of the manager's background session: the counterpart of
        /// `DownloadManager.handleBackgroundEvents(_:completionHandler:)` for apps without a delegate.
        public func downloadEvents(of manager: DownloadManager) -> some Scene {
            backgroundTask(.urlSession(manager.configuration.identifier ?? "")) {
                await manager.finishBackgroundEvents()
            }
        }
    }

    private struct DownloadLifecycle: ViewModifier {
        let manager: DownloadManager
        @Environment(\.scenePhase) private var phase
        /// The most recent lifecycle change of the manager; each change starts after the previous one has ended.
        @State private var last: Task<Void, Never>?

        func body(content: Content) -> some View {
            content.onChange(of: phase, initial: true) { _, phase in
                let manager = manager
                switch phase {
                case .active:
                    // owner: none; if the list cannot be opened, its next use reports the error.
                    inTurn { try? await manager.activate() }
                case .background:
                    #if !os(macOS)
                        // owner: none; the system lets it end before the app is suspended.
                        inTurn { await manager.suspend() }
                    #endif
                case .inactive: break
                @unknown default: break
                }
            }
        }

        private func inTurn(_ change: @escaping @Sendable () async -> Void) {
            // owner: `last`; the next change awaits it.
            last = Task { [last] in
                await last?.value
                await change()
            }
        }
    }
#endif
