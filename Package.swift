// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// `make fuzz` builds what is ours, and nothing else, so that a fuzzer sees which ways an input takes.
let fuzzed: [SwiftSetting] =
    Context.environment["FERRY_FUZZ_COVERAGE"] == nil ? [] : [.unsafeFlags(["-sanitize=fuzzer"])]

// `make test-release` tests what the optimizer makes of the sources. For the tests themselves it would take longer than for those.
let tests: [SwiftSetting] =
    strict + (Context.environment["FERRY_PLAIN_TESTS"] == nil ? [] : [.unsafeFlags(["-Xfrontend", "-Onone"])])

// `make tarball` links libstdc++, SQLite and zlib statically: the linker finds their archives in this directory first.
let staticLibraries: [LinkerSetting] =
    Context.environment["FERRY_STATIC_LIBRARIES"].map {
        $0.isEmpty ? [] : [.unsafeFlags(["-L", $0], .when(platforms: [.linux], configuration: .release))]
    } ?? []

// Apple's systems want to know which of their calls a library makes, and why. Elsewhere the file would need all of Foundation.
#if os(macOS)
    let privacy: (excluded: [String], resources: [Resource]) = ([], [.copy("PrivacyInfo.xcprivacy")])
#else
    let privacy: (excluded: [String], resources: [Resource]) = (["PrivacyInfo.xcprivacy"], [])
#endif

// Packages that the daemon and the commands need, and no library that an app embeds. An app's package without the trait
// builds none of them, and resolves only those that others name.
let ofDaemon: TargetDependencyCondition? = .when(traits: ["Daemon"])

// What an app writes (a page, headers, a preview, tests of the page), in each way that apps are compiled in: Swift 5, Swift 6,
// and the settings of a new project of Xcode 26. They see what every other package sees.
let consumers: [Target] = [
    ("Swift5", [.swiftLanguageMode(.v5)]),
    ("Swift6", [.swiftLanguageMode(.v6)]),
    (
        "Defaults",
        [
            .swiftLanguageMode(.v5), .defaultIsolation(MainActor.self),
            .enableUpcomingFeature("DisableOutwardActorInference"),
            .enableUpcomingFeature("GlobalActorIsolatedTypesUsability"),
            .enableUpcomingFeature("InferIsolatedConformances"), .enableUpcomingFeature("InferSendableFromCaptures"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
        ]
    ),
].map { (mode: String, settings: [SwiftSetting]) in
    .testTarget(
        name: "Consumer\(mode)Tests", dependencies: ["Ferry", "FerryClient", "FerryUI", "FerryTestSupport"],
        packageAccess: false,
        swiftSettings: settings)
}

let package = Package(
    name: "ferry",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    products: [
        .library(name: "Ferry", targets: ["Ferry"]),
        .library(name: "FerryUI", targets: ["FerryUI"]),
        .library(name: "FerryClient", targets: ["FerryClient"]),
        .library(name: "FerryTestSupport", targets: ["FerryTestSupport"]),
        .executable(name: "ferry", targets: ["FerryCLI"]),
        .executable(name: "ferry-origin", targets: ["ferry-origin"]),
        // For the package in `Fuzz/` alone.
        .library(name: "FerryFuzzing", targets: ["FerryFuzzing"]),
    ],
    traits: [
        .default(enabledTraits: ["Daemon"]),
        .trait(
            name: "Daemon",
            description: "What the program `ferry` and its daemon need. Apps that embed the library do without it."),
    ],
    dependencies: [
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // Decides: nouns, and every decision as a pure value. No I/O, no clock, no randomness.
        .target(
            name: "FerryCore",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
            ],
            swiftSettings: strict + fuzzed),
        // C declarations that Glibc's module hides on Linux, or types in another way. No logic.
        .target(name: "CFerry"),
        // What a program that traps writes about itself.
        .target(name: "CBacktrace"),
        // The system's SQLite.
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        // The system's zlib.
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        // Files that are part of the binary: those of the page, the OpenAPI document. No logic.
        .target(name: "CFerryAssets"),
        // Does: one download.
        .target(
            name: "FerryEngine",
            dependencies: [
                "FerryCore", "CFerry",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            swiftSettings: strict + fuzzed),
        // What the daemon and its clients say to each other: shapes, routes, events; and the client.
        .target(
            name: "FerryAPI",
            dependencies: [
                "FerryCore", "CFerryAssets",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            exclude: ["Document/openapi.json"],
            swiftSettings: strict),
        // Many downloads: the façade that apps use.
        .target(
            name: "Ferry",
            dependencies: [
                "FerryCore", "FerryEngine", "CFerry", "CSQLite",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            exclude: privacy.excluded, resources: privacy.resources, swiftSettings: strict + fuzzed),
        // The client of the daemon, and managers whose downloads it runs.
        .target(
            name: "FerryClient",
            dependencies: [
                "Ferry", "FerryAPI", "FerryEngine", "FerryCore",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        // The list of downloads for views, observable on the main actor.
        .target(name: "FerryUI", dependencies: ["Ferry", "FerryCore"], swiftSettings: strict),
        // A manager with scripted downloads, and a server of this machine: for previews and tests of apps.
        .target(
            name: "FerryTestSupport",
            dependencies: [
                "Ferry", "FerryEngine", "FerryCore",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: strict),
        // Metrics in Prometheus' text format: what daemons and workers serve.
        .target(
            name: "FerryMetrics",
            dependencies: ["Ferry", "FerryCore", .product(name: "CoreMetrics", package: "swift-metrics")],
            packageAccess: false, swiftSettings: strict),
        // The daemon: HTTP front, API, event stream, page, sign-in. No download logic.
        .target(
            name: "FerryServer",
            dependencies: [
                "Ferry", "FerryAPI", "FerryClient", "FerryMetrics", "FerryCore", "CFerry", "CFerryAssets", "CZlib",
                .product(name: "HummingbirdCore", package: "hummingbird", condition: ofDaemon),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: ofDaemon),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: ofDaemon),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Page/Assets"],
            swiftSettings: strict),
        // What a terminal shows: bars, lines, JSON; and what arguments mean.
        .target(
            name: "FerryTerminal",
            dependencies: [
                "Ferry", "FerryAPI", "FerryClient", "FerryCore",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: ofDaemon),
            ],
            swiftSettings: strict),
        // A door of the daemon, aria2's RPC interface; and the binary as aria2c.
        .target(
            name: "FerryAria2",
            dependencies: [
                "FerryTerminal", "FerryServer", "Ferry", "FerryAPI", "FerryCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: ofDaemon),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: ofDaemon),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        // A door of the daemon, and the command for its cache: clients of packages, models and images fetch through it.
        .target(
            name: "FerryGateway",
            dependencies: [
                "FerryTerminal", "FerryServer", "FerryMetrics", "Ferry", "FerryAPI", "FerryClient", "FerryCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: ofDaemon),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: ofDaemon),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        // The host of the browsers' extension, which passes downloads to the daemon; and the command that installs it.
        .target(
            name: "FerryBrowser",
            dependencies: [
                "FerryTerminal", "FerryClient", "Ferry", "FerryAPI", "FerryCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: ofDaemon),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),
        // Many machines and one list: leases, budgets and results in PostgreSQL, whose libpq is opened at run time.
        .target(
            name: "FerryFleet",
            dependencies: [
                "FerryTerminal", "FerryServer", "FerryMetrics", "Ferry", "FerryCore",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: ofDaemon),
            ],
            swiftSettings: strict),
        // The binary `ferry`: one file per command, and the list of its doors; no logic.
        .executableTarget(
            name: "FerryCLI",
            dependencies: [
                "FerryTerminal", "FerryAria2", "FerryGateway", "FerryBrowser", "FerryFleet", "FerryServer",
                "FerryClient", "FerryAPI", "FerryCore", "CBacktrace",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: ofDaemon),
            ],
            swiftSettings: strict,
            linkerSettings: [
                // Static linking exports every symbol for libraries that are opened at run time; nothing needs them, and
                // each one keeps its code. All symbols are bound at the start, so that their table is then read-only.
                .unsafeFlags(
                    ["-Xlinker", "--no-export-dynamic", "-Xlinker", "-z", "-Xlinker", "now"],
                    .when(platforms: [.linux], configuration: .release))
            ] + staticLibraries),
        // A misbehaving origin, a disk that loses what was not synced, the manual clock and network: what tests stand on.
        .target(
            name: "FerryTesting",
            dependencies: [
                "FerryCore", "FerryEngine", "Ferry", "CFerry",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "TestSupport/FerryTesting",
            swiftSettings: strict),
        // A daemon in the process of the tests, and connections that write bytes as they are.
        .target(
            name: "FerryServerTesting",
            dependencies: [
                "FerryServer", "FerryAPI", "Ferry", "FerryCore", "FerryTesting", "CFerry",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "TestSupport/FerryServerTesting",
            swiftSettings: strict),
        // What every parser promises, checked for any bytes: run by the fuzzer in `Fuzz/`, replayed by the tests.
        .target(
            name: "FerryFuzzing",
            dependencies: [
                "FerryCore", "FerryEngine", "FerryAPI", "Ferry", "FerryAria2", "FerryGateway", "FerryBrowser",
                "FerryTerminal",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "TestSupport/FerryFuzzing",
            swiftSettings: strict + fuzzed),
        .executableTarget(
            name: "ferry-origin",
            dependencies: [
                "FerryTesting",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: ofDaemon),
            ],
            path: "TestSupport/ferry-origin",
            swiftSettings: strict),
        // Two programs to read: one URL; and what an app does. Compiled as an app's own code is, without our features.
        .executableTarget(name: "example-fetch", dependencies: ["Ferry"], path: "Examples/fetch"),
        .executableTarget(name: "example-shelf", dependencies: ["Ferry"], path: "Examples/shelf"),
        // A page with a bar and four buttons, in SwiftUI and in UIKit: empty where there is neither.
        .target(
            name: "ExampleScreen", dependencies: ["Ferry", "FerryUI"], path: "Examples/Screen", exclude: ["README.md"]),
        // The benchmark of scale: one command for each thing that is measured.
        .executableTarget(
            name: "ferry-scale",
            dependencies: [
                "Ferry", "FerryCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: ofDaemon),
            ],
            path: "TestSupport/ferry-scale",
            swiftSettings: strict),
        // An app that is killed and started again: what the tests of relaunches run.
        .executableTarget(
            name: "ferry-app",
            dependencies: [
                "FerryClient", "Ferry", "FerryEngine", "FerryTesting", "CBacktrace",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "TestSupport/ferry-app",
            swiftSettings: strict),
        // An app of the tests whose downloads the system goes on with.
        .executableTarget(
            name: "ferry-background", dependencies: ["Ferry", "FerryCore"], path: "TestSupport/ferry-background",
            swiftSettings: strict),
        .testTarget(
            name: "FerryCoreTests",
            dependencies: ["FerryCore", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: tests),
        .testTarget(
            name: "FerryEngineTests",
            dependencies: [
                "FerryEngine", "FerryCore", "FerryTesting", "CFerry",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "FerryAPITests",
            dependencies: [
                "FerryAPI", "FerryCore", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "FerryMetricsTests",
            dependencies: [
                "FerryMetrics", "Ferry", "FerryEngine", "FerryCore", "FerryTesting",
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "FerryServerTests",
            dependencies: [
                "FerryServer", "FerryGateway", "FerryMetrics", "FerryAPI", "Ferry", "FerryCore", "FerryTesting",
                "FerryServerTesting", "CFerry",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "FerryAria2Tests",
            dependencies: [
                "FerryAria2", "FerryTerminal", "FerryServer", "FerryAPI", "Ferry", "FerryCore", "FerryTesting",
                "FerryServerTesting",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: ofDaemon),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "FerryGatewayTests",
            dependencies: [
                "FerryGateway", "FerryServer", "FerryMetrics", "FerryAPI", "Ferry", "FerryCore", "FerryTesting",
                "FerryServerTesting",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: ofDaemon),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "FerryBrowserTests",
            dependencies: [
                "FerryBrowser", "Ferry", "FerryAPI", "FerryCore",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "FerryTests",
            dependencies: [
                "Ferry", "FerryUI", "FerryCore", "FerryEngine", "FerryAPI", "FerryClient", "FerryServer",
                "FerryTesting", "ferry-app", "FerryCLI", "CFerry", "FerryTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "FerryTerminalTests",
            dependencies: [
                "FerryTerminal", "Ferry", "FerryAPI", "FerryClient", "FerryTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: ofDaemon),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "FerryFleetTests",
            dependencies: [
                "FerryFleet", "FerryTerminal", "FerryServer", "FerryMetrics", "Ferry", "FerryCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: ofDaemon),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "FerryTestingTests",
            dependencies: [
                "FerryTesting",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: tests),
        .testTarget(name: "FerryFuzzingTests", dependencies: ["FerryFuzzing"], swiftSettings: tests),
        .testTarget(
            name: "FerryCLITests",
            dependencies: [
                "FerryCLI", "FerryTerminal", "FerryClient", "Ferry", "FerryServer", "FerryAria2", "FerryGateway",
                "FerryBrowser", "FerryFleet", "FerryMetrics", "FerryTesting", "ferry-origin", "ferry-app", "FerryAPI",
                "FerryCore",
                "FerryEngine",
                "CFerry",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: tests),
    ] + consumers,
    swiftLanguageModes: [.v6]
)
