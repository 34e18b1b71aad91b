// swift-tools-version:6.2
// `OAuth` and its tests alone, so that a change of them is built in seconds. Sources and Tests are links into this repository.
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let extras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let package = Package(
    name: "oauth-alone",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .target(name: "OAuth", dependencies: [httpTypes, crypto, extras], swiftSettings: strict),
        .target(name: "ThreadSanitizerLock"),
        .target(name: "TestFixtures", dependencies: ["ThreadSanitizerLock"], swiftSettings: strict),
        .testTarget(
            name: "OAuthTests", dependencies: ["OAuth", "TestFixtures", httpTypes, crypto, extras],
            swiftSettings: strict),
    ], swiftLanguageModes: [.v6])
