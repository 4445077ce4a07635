extension DownloadManager {
    /// Lets the downloads of the app go on in the background while `body` runs: ``suspend()`` is postponed until it has
    /// returned, and does not take place if ``activate()`` is called before.
    ///
    /// For work that the system lets an app finish after it has left the screen, such as a task that the user has begun and
    /// sees. `body` has to return when the system ends that.
    public func continuingInApp(_ body: () async -> Void) async {
        if let scheduler { await scheduler.postponeSuspension(body) } else { await body() }
    }
}
