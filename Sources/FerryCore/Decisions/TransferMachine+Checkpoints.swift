extension TransferMachine {
    /// So much is unsynced that the driver should tick at once rather than at the next interval: a disk that idles until
    /// then is what would stop the reading.
    package var wantsCheckpoint: Bool {
        settings.syncs && !isCheckpointing && planner.unsyncedBytes >= Self.checkpointBytes
    }
}
