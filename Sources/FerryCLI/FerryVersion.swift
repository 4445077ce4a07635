/// The version of this binary.
enum FerryVersion {
    static let text = "0.1.0"
}
