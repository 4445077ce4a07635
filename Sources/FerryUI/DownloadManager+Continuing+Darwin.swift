#if os(iOS)
    import BackgroundTasks
    import Dispatch
    public import Ferry
    import FerryCore
    import Foundation
    import Synchronization

    @available(iOS 26.0, *)
    extension DownloadManager {
        /// Lets running downloads continue in the app after the app has left the screen, while the system shows their progress
        /// and lets the user end them (`BGContinuedProcessingTask`). Call this when the user has started a download.
        ///
        /// The task ends when no download continues without the user's help, or when the system or the user ends it. A
        /// suspension that the app has requested meanwhile then takes effect, and hands the missing ranges to the system. Without
        /// the task, the app is suspended as usual. Throws if the system cannot start such a task now.
        ///
        /// - Parameters:
        ///   - identifier: One of the `BGTaskSchedulerPermittedIdentifiers` in the app's Info.plist, which starts with the app's
        ///     bundle identifier.
        ///   - title: The title that the user sees, such as "Downloading 3 films".
        ///   - subtitle: The line below the title.
        @MainActor public func continueInView(_ identifier: String, title: String, subtitle: String) throws {
            let scheduler = BGTaskScheduler.shared
            Self.continued.withLock { $0[identifier] = self }
            if Self.registered.withLock({ $0.insert(identifier).inserted }) {
                _ = scheduler.register(forTaskWithIdentifier: identifier, using: .main) { task in
                    let manager = Self.continued.withLock { $0.removeValue(forKey: identifier) }
                    guard let manager, let task = task as? BGContinuedProcessingTask else {
                        return task.setTaskCompleted(success: false)
                    }
                    // owner: the task of the system, which ends it.
                    let work = Task { await manager.continueWhile(task) }
                    task.expirationHandler = { work.cancel() }
                }
            }
            let request = BGContinuedProcessingTaskRequest(identifier: identifier, title: title, subtitle: subtitle)
            request.strategy = .fail
            do { try scheduler.submit(request) } catch {
                Self.continued.withLock { $0[identifier] = nil }
                throw error
            }
        }

        private func continueWhile(_ task: BGContinuedProcessingTask) async {
            await continuingInApp {
                while !Task.isCancelled {
                    let downloads = (try? await downloads()) ?? []
                    let now = ContinuedProgress(downloads.lazy.map(\.status))
                    guard now.isBusy else { break }
                    (task.progress.totalUnitCount, task.progress.completedUnitCount) = (now.total, now.completed)
                    // The system ends a task whose progress does not change.
                    try? await Task.sleep(for: .seconds(1))
                }
            }
            task.setTaskCompleted(success: !Task.isCancelled)
        }
    }

    extension DownloadManager {
        /// The identifiers of the tasks that this process has registered, because each may be registered only once.
        private static let registered = Mutex<Set<String>>([])
        /// The managers whose tasks were requested and have not started yet.
        private static let continued = Mutex<[String: DownloadManager]>([:])
    }
#endif
