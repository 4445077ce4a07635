extension DownloadManager {
    /// Keeps the app's downloads running in the background while `body` runs. A call to ``suspend()`` takes effect after `body`
    /// has returned, unless ``activate()`` is called first.
    ///
    /// Use this for work that the system lets an app finish after it has left the screen, such as a task that the user started
    /// and whose progress the system shows. `body` must return when the system ends the task.
    public func continuingInApp(_ body: () async -> Void) async {
        if let scheduler { await scheduler.postponeSuspension(body) } else { await body() }
    }
}
