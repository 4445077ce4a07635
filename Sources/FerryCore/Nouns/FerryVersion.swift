/// The version of this package.
public enum FerryVersion {
    /// `major.minor.patch`.
    public static let text = "0.1.0"
}
