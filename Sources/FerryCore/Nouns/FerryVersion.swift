/// The version of this package; the one place where it stands.
public enum FerryVersion {
    /// `major.minor.patch`.
    public static let text = "0.1.0"
}
