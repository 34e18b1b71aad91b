// swift-tools-version:6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
    name: "handshake-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "handshake", path: ".."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                .product(name: "OAuth", package: "handshake"),
                .product(name: "Handshake", package: "handshake"),
                .product(name: "IFTTTConnect", package: "handshake"),
                .product(name: "Sandbox", package: "handshake"),
                .product(name: "Sequencing", package: "handshake"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                "VaultContents",
                // Started by `benchmarks`, which looks for it beside itself.
                "vault-reader",
            ],
            path: "Sources/Benchmarks",
            swiftSettings: strict),
        .target(
            name: "VaultContents", dependencies: [.product(name: "Handshake", package: "handshake")],
            swiftSettings: strict),
        .executableTarget(
            name: "vault-reader", dependencies: [.product(name: "Handshake", package: "handshake"), "VaultContents"],
            path: "Sources/VaultReader", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
