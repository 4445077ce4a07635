/// The version of this package.
package enum FerryVersion {
    /// `major.minor.patch`.
    package static let text = "0.1.0"
}
