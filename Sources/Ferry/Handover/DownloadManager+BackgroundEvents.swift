extension DownloadManager {
    /// Passes the events of a background session to its manager. Call it from the app's delegate.
    ///
    /// ```swift
    /// func application(
    ///     _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
    ///     completionHandler: @escaping () -> Void
    /// ) {
    ///     let isFerrys = DownloadManager.handleBackgroundEvents(identifier, completionHandler: completionHandler)
    ///     if !isFerrys { completionHandler() }
    /// }
    /// ```
    ///
    /// Fetched data is written to the files, complete downloads are published, and events are stored. Then the manager is
    /// suspended again, unless the app is in the foreground (``activate()``), and the handler is called once, on the main
    /// thread. Create the manager first, with the same configuration as before; a manager in a lazy property does not exist
    /// before its first use. Do not activate it when the app is launched in the background.
    ///
    /// Returns whether a manager of this process has the identifier; if not, the caller must call the handler.
    @MainActor
    public static func handleBackgroundEvents(
        _ identifier: String, completionHandler: @escaping () -> Void
    ) -> Bool {
        guard let scheduler = BackgroundManagers[identifier] else { return false }
        let handler = CompletionHandler(completionHandler)
        // owner: none; the task ends within the time that the system gives.
        Task { await scheduler.woken { handler.call() } }
        return true
    }

    /// Like ``handleBackgroundEvents(_:completionHandler:)``, but for a scene's `backgroundTask(.urlSession(identifier))`. Returns
    /// when the system may suspend the app.
    public func finishBackgroundEvents() async { await scheduler?.woken {} }
}

/// A completion handler of the system, which must be called on the main thread.
@MainActor private final class CompletionHandler {
    let call: () -> Void

    init(_ call: @escaping () -> Void) { self.call = call }
}
