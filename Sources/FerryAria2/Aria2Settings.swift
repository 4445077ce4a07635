public import FerryServer

/// The settings of aria2's interface.
extension DoorSetting {
    /// The loopback port of the interface; 0 for any free port; `nil` for no interface.
    public static let aria2Rpc = port("aria2Rpc")
    /// The token of the interface, or `@` and the path of a file that contains it; `nil` for a generated token.
    public static let aria2Secret = text("aria2Secret") { text in
        SharedToken.isUsable(text)
            ? nil : "aria2Secret must have 1 to \(SharedToken.mostBytes) bytes, without control characters."
    }
    /// The origins of the pages that may use the interface.
    public static let aria2AllowedOrigins = texts("aria2AllowedOrigins") { origins in
        origins.allSatisfy { AccessPolicy.isOrigin($0.lowercased()) }
            ? nil : "aria2AllowedOrigins must be like http://host:port, or null."
    }
}
