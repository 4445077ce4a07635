// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "ferry-bench",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        // What Foundation offers: a download task of URLSession.
        .executableTarget(name: "peer-urlsession"),
        // What AsyncHTTPClient offers: its FileDownloadDelegate.
        .executableTarget(
            name: "peer-async-http-client",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
