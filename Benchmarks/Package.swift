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
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                .product(name: "Beacons", package: "handshake"),
                .product(name: "FileSelector", package: "handshake"),
                .product(name: "OAuth", package: "handshake"),
                .product(name: "Geofences", package: "handshake"),
                .product(name: "Handshake", package: "handshake"),
                .product(name: "HandshakeServer", package: "handshake"),
                .product(name: "IFTTTConnect", package: "handshake"),
                .product(name: "Nearby", package: "handshake"),
                .product(name: "Radio", package: "handshake"),
                .product(name: "Sandbox", package: "handshake"),
                .product(name: "Sequencing", package: "handshake"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "Logging", package: "swift-log"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                "AirTraffic", "VaultContents",
                // Started by `benchmarks`, which looks for them beside itself.
                "frame-allocations", "vault-reader",
            ],
            path: "Sources/Benchmarks",
            swiftSettings: strict),
        .target(
            name: "VaultContents", dependencies: [.product(name: "Handshake", package: "handshake")],
            swiftSettings: strict),
        .executableTarget(
            name: "vault-reader", dependencies: [.product(name: "Handshake", package: "handshake"), "VaultContents"],
            path: "Sources/VaultReader", swiftSettings: strict),
        .target(
            name: "AirTraffic", dependencies: [.product(name: "Beacons", package: "handshake")], swiftSettings: strict),
        .target(name: "AllocationCount"),
        .executableTarget(
            name: "frame-allocations", dependencies: ["AirTraffic", "AllocationCount"],
            path: "Sources/FrameAllocations", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
