import FerryEngine

extension DownloadManager.Configuration {
    /// What each driver is told.
    var driverSettings: DriverSettings {
        var settings = DriverSettings()
        settings.stallTimeout = stallTimeout
        settings.connectTimeout = transfer.connectTimeout
        settings.maxAttempts = maxAttempts
        settings.minFreeBytes = minFreeBytes
        return settings
    }
}
