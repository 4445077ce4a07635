#if os(iOS)
    import BackgroundTasks
    import Dispatch
    public import Ferry
    import FerryCore
    import Foundation
    import Synchronization

    @available(iOS 26.0, *)
    extension DownloadManager {
        /// Lets the downloads that run go on in the app after it has left the screen, where the system shows their progress and
        /// lets the user end them (`BGContinuedProcessingTask`). Call it when the user has begun a download.
        ///
        /// The task ends with the last download that goes on by itself, or when the system or the user ends it; a suspension
        /// that the app has asked for meanwhile follows, and hands over what is missing. Without the task the app
        /// is suspended as always. Throws if the system begins no such task now.
        ///
        /// - Parameters:
        ///   - identifier: One of `BGTaskSchedulerPermittedIdentifiers` of the app's Info.plist, which begins with the
        ///     app's own identifier.
        ///   - title: What the user reads, such as "Downloading 3 films".
        ///   - subtitle: The line below it.
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
                    // The system ends a task whose progress does not move.
                    try? await Task.sleep(for: .seconds(1))
                }
            }
            task.setTaskCompleted(success: !Task.isCancelled)
        }
    }

    extension DownloadManager {
        /// The identifiers of tasks that this process has registered: each may be registered once.
        private static let registered = Mutex<Set<String>>([])
        /// The managers of tasks that were asked for and have not begun.
        private static let continued = Mutex<[String: DownloadManager]>([:])
    }
#endif
