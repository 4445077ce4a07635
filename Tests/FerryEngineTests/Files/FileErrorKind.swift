import FerryEngine

/// The kind of the file error that a body throws.
func kind(_ body: () throws -> Void) -> FileError.Kind? {
    do { try body() } catch { return (error as? FileError)?.kind }
    return nil
}
