// swift-tools-version: 6.2
import PackageDescription

// Built by `make fuzz` alone, which tells the linker where the toolchain's libFuzzer is.
let package = Package(
    name: "ferry-fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "ferry", path: "..")],
    targets: [
        // The declaration of libFuzzer's way in. No logic.
        .target(name: "CLibFuzzer"),
        // Hands each input that libFuzzer makes up to one of the targets of FerryFuzzing.
        .executableTarget(
            name: "ferry-fuzz", dependencies: ["CLibFuzzer", .product(name: "FerryFuzzing", package: "ferry")]),
    ],
    swiftLanguageModes: [.v6]
)
