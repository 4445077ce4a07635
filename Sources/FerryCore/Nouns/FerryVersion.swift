/// The version of Ferry that a program was built with.
public enum FerryVersion {
    /// `major.minor.patch`.
    public static let text = "0.1.0"
}
