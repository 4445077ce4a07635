import FerryEngine

extension DownloadManager.Configuration {
    /// The settings passed to each driver.
    var driverSettings: DriverSettings {
        var settings = DriverSettings()
        settings.stallTimeout = stallTimeout
        settings.connectTimeout = transfer.connectTimeout
        settings.maxAttempts = maxAttempts
        settings.minFreeBytes = minFreeBytes
        return settings
    }
}
