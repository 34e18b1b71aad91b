// swift-tools-version:6.2
import PackageDescription

// The tests of the vaults in databases, whose traits are off in the package's own build. The folders in Fixtures, and the contract of every
// vault, are links to the same sources as there, and Load to ../../Benchmarks/Load.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
    name: "databases",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "handshake", path: "../..", traits: ["Databases"]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        // Under another name than in the package around it, which has this target too.
        .target(name: "SanitizerLock", path: "Fixtures/ThreadSanitizerLock"),
        .target(
            name: "TestFixtures", dependencies: ["SanitizerLock"], path: "Fixtures/TestFixtures",
            swiftSettings: strict),
        .executableTarget(
            name: "database-benchmark",
            dependencies: [
                "TestFixtures",
                .product(name: "Handshake", package: "handshake"),
                .product(name: "OAuth", package: "handshake"),
                .product(name: "PostgresVault", package: "handshake"),
                .product(name: "SQLiteVault", package: "handshake"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Benchmark", swiftSettings: strict),
        .executableTarget(
            name: "load-benchmark",
            dependencies: [
                "TestFixtures",
                .product(name: "Handshake", package: "handshake"),
                .product(name: "OAuth", package: "handshake"),
                .product(name: "PostgresVault", package: "handshake"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Load", swiftSettings: strict),
        .testTarget(name: "LoadTests", dependencies: ["TestFixtures", "load-benchmark"], swiftSettings: strict),
        .testTarget(
            name: "SQLiteVaultTests",
            dependencies: [
                "TestFixtures",
                .product(name: "Handshake", package: "handshake"),
                .product(name: "SQLiteVault", package: "handshake"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PostgresVaultTests",
            dependencies: [
                "TestFixtures",
                .product(name: "Handshake", package: "handshake"),
                .product(name: "OAuth", package: "handshake"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "PostgresVault", package: "handshake"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
