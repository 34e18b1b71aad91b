// swift-tools-version:6.2
// `Handshake`, its tests and the sandbox that they need, without what stands above: a change of `Handshake` is built in less
// time. Sources and Tests are links into this repository.
import PackageDescription

let strict: [SwiftSetting] = [
    .define("AsyncHTTPClient"), .define("Sandbox"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let extras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let mustache: Target.Dependency = .product(name: "Mustache", package: "swift-mustache")
let client: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let nio = ["NIOCore", "NIOHTTP1", "NIOPosix"].map { Target.Dependency.product(name: $0, package: "swift-nio") }
let tls: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let package = Package(
    name: "handshake-alone",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    ],
    targets: [
        .target(name: "OAuth", dependencies: [httpTypes, crypto, extras], swiftSettings: strict),
        .target(name: "AsyncSupport", swiftSettings: strict),
        .target(
            name: "Handshake", dependencies: ["AsyncSupport", "OAuth", httpTypes, crypto, logging, client, tls] + nio,
            exclude: ["PrivacyInfo.xcprivacy"], resources: [.embedInCode("Words/Strings.xcstrings")],
            swiftSettings: strict),
        .target(name: "ThreadSanitizerLock"),
        .target(name: "TestFixtures", dependencies: ["ThreadSanitizerLock"], swiftSettings: strict),
        .target(
            name: "SandboxCore",
            dependencies: [
                httpTypes, crypto, logging, mustache, .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .target(name: "SandboxStandard", dependencies: ["SandboxCore", httpTypes, crypto], swiftSettings: strict),
        .target(
            name: "SandboxSequencing", dependencies: ["SandboxCore", httpTypes, crypto, extras, mustache],
            resources: [.embedInCode("Console/file-selector.js"), .embedInCode("Console/console.js")],
            swiftSettings: strict),
        .target(name: "SandboxRecurseCenter", dependencies: ["SandboxCore", httpTypes], swiftSettings: strict),
        .target(
            name: "SandboxIFTTT", dependencies: ["SandboxCore", httpTypes, client, mustache] + nio,
            swiftSettings: strict),
        .target(
            name: "Sandbox",
            dependencies: [
                "SandboxCore", "SandboxIFTTT", "SandboxRecurseCenter", "SandboxSequencing", "SandboxStandard",
            ], swiftSettings: strict),
        .testTarget(
            name: "HandshakeTests",
            dependencies: ["Handshake", "OAuth", "Sandbox", "TestFixtures", httpTypes, crypto, logging, tls] + nio,
            swiftSettings: strict),
    ], swiftLanguageModes: [.v6])
