// swift-tools-version:6.2
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
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
    name: "handshake",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "OAuth", targets: ["OAuth"]),
        .library(name: "Beacons", targets: ["Beacons"]),
        .library(name: "Geofences", targets: ["Geofences"]),
        .library(name: "Positions", targets: ["Positions"]),
        .library(name: "Radio", targets: ["Radio"]),
        .library(name: "Handshake", targets: ["Handshake"]),
        .library(name: "Sequencing", targets: ["Sequencing"]),
        .library(name: "DBus", targets: ["DBus"]),
        .library(name: "DesktopServices", targets: ["DesktopServices"]),
        .library(name: "SecretServiceVault", targets: ["SecretServiceVault"]),
        .library(name: "RecurseCenter", targets: ["RecurseCenter"]),
        .library(name: "Nearby", targets: ["Nearby"]),
        .library(name: "IFTTTConnect", targets: ["IFTTTConnect"]),
        .library(name: "ConnectButton", targets: ["ConnectButton"]),
        .library(name: "HandshakeServer", targets: ["HandshakeServer"]),
        .library(name: "Sandbox", targets: ["Sandbox"]),
        .executable(name: "handshake", targets: ["HandshakeCLI"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
        .package(url: "https://github.com/attaswift/BigInt", from: "6.0.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    ],
    targets: [
        // Floor 0: the protocol as values.
        .target(
            name: "OAuth",
            dependencies: [httpTypes, crypto, .product(name: "CryptoExtras", package: "swift-crypto")],
            swiftSettings: strict),
        .testTarget(
            name: "OAuthTests",
            dependencies: ["OAuth", httpTypes, crypto, .product(name: "CryptoExtras", package: "swift-crypto")],
            swiftSettings: strict),
        .target(name: "Beacons", dependencies: [crypto], swiftSettings: strict),
        .testTarget(
            name: "BeaconsTests",
            dependencies: ["Beacons", crypto, .product(name: "CryptoExtras", package: "swift-crypto")],
            exclude: ["ROWS.md"], swiftSettings: strict),
        .target(name: "Geofences", swiftSettings: strict),
        .testTarget(
            name: "GeofencesTests", dependencies: ["Geofences"], exclude: ["ROWS.md", "Vectors/generate.py"],
            resources: [.embedInCode("Vectors/geodesic.csv")], swiftSettings: strict),

        // Floor 0: the message bus, for BlueZ, the Secret Service and notifications. It knows none of them.
        .target(name: "DBus", swiftSettings: strict),
        .target(name: "ClockFixtures", path: "Tests/ClockFixtures", swiftSettings: strict),
        .target(name: "WireFixtures", path: "Tests/WireFixtures", swiftSettings: strict),
        .target(name: "JSONFixtures", dependencies: ["OAuth"], path: "Tests/JSONFixtures", swiftSettings: strict),
        .target(name: "BusFixtures", dependencies: ["DBus"], path: "Tests/BusFixtures", swiftSettings: strict),
        .testTarget(
            name: "DBusTests", dependencies: ["DBus", "BusFixtures", "ClockFixtures"], swiftSettings: strict),

        // Floor 1: what a Linux desktop offers over its bus.
        .target(
            name: "DesktopServices",
            dependencies: [
                "DBus", crypto, .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "BigInt", package: "BigInt"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "DesktopServicesTests", dependencies: ["DesktopServices", "DBus", "BusFixtures", crypto],
            swiftSettings: strict),

        // Floor 1: accounts, vaults, transports.
        .target(
            name: "Handshake",
            dependencies: [
                "OAuth", httpTypes, crypto, logging,
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(platforms: [.linux])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(platforms: [.linux])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(platforms: [.linux])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(platforms: [.linux])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(platforms: [.linux])),
            ],
            resources: [.embedInCode("Words/Strings.xcstrings")],
            swiftSettings: strict),
        .testTarget(
            name: "HandshakeTests",
            dependencies: [
                "Beacons", "ClockFixtures", "Handshake", "HandshakeServer", "IFTTTConnect", "Nearby", "Radio",
                "RecurseCenter", "Sandbox", "WireFixtures",
                httpTypes, crypto, .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(platforms: [.linux])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(platforms: [.linux])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),

        .target(
            name: "Positions",
            dependencies: ["Geofences", .target(name: "DBus", condition: .when(platforms: [.linux]))],
            swiftSettings: strict),
        .testTarget(
            name: "PositionsTests",
            dependencies: [
                "Positions", "Geofences", "ClockFixtures", "BusFixtures",
                .target(name: "DBus", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),

        .target(name: "Radio", dependencies: ["Beacons", "DBus"], swiftSettings: strict),
        .testTarget(
            name: "RadioTests", dependencies: ["Radio", "Beacons", "DBus", "BusFixtures", "ClockFixtures"],
            swiftSettings: strict),

        // Floor 2: a vault whose key the desktop keeps.
        .target(
            name: "SecretServiceVault", dependencies: ["Handshake", "DBus", "DesktopServices"], swiftSettings: strict),
        .testTarget(
            name: "SecretServiceVaultTests",
            dependencies: ["SecretServiceVault", "BusFixtures", "DBus", "DesktopServices", "Handshake"],
            swiftSettings: strict),

        // Floor 2: one kit a service.
        .target(
            name: "Sequencing",
            dependencies: [
                "Handshake", "OAuth", httpTypes, crypto, .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SequencingTests",
            dependencies: ["ClockFixtures", "Sequencing", "Handshake", "OAuth", "Sandbox", "WeatherMyWay", httpTypes],
            exclude: ["ROWS.md", "Fixtures/file-selector-cases.json"], swiftSettings: strict),
        .executableTarget(
            name: "WeatherMyWay", dependencies: ["Sequencing", "Handshake", "OAuth", "Sandbox"],
            path: "Examples/WeatherMyWay", resources: [.embedInCode("Advice.csv")], swiftSettings: strict),
        .target(name: "IFTTTConnect", dependencies: ["Handshake", "OAuth", httpTypes], swiftSettings: strict),
        .testTarget(
            name: "IFTTTConnectTests",
            dependencies: [
                "ClockFixtures", "JSONFixtures", "WireFixtures",
                "IFTTTConnect", "Handshake", "OAuth", "Sandbox", httpTypes,
            ],
            exclude: ["ROWS.md"], swiftSettings: strict),

        .target(
            name: "RecurseCenter", dependencies: ["Handshake", "OAuth", httpTypes, crypto], swiftSettings: strict),
        .testTarget(
            name: "RecurseCenterTests",
            dependencies: ["ClockFixtures", "RecurseCenter", "Handshake", "OAuth", "Sandbox", httpTypes],
            exclude: ["ROWS.md"], swiftSettings: strict),
        .target(
            name: "Nearby", dependencies: ["Handshake", "OAuth", "Beacons", "DBus", "DesktopServices"],
            swiftSettings: strict),
        .testTarget(
            name: "NearbyTests", dependencies: ["Nearby", "Beacons", "BusFixtures", "DBus", "Handshake"],
            swiftSettings: strict),

        // Floor 3: the button, as data and in two renderings.
        .target(
            name: "ConnectButton", dependencies: ["IFTTTConnect"],
            resources: [.embedInCode("Words/Strings.xcstrings"), .embedInCode("Web/connect-button.js")],
            swiftSettings: strict),
        .testTarget(
            name: "ConnectButtonTests", dependencies: ["ConnectButton", "IFTTTConnect"], exclude: ["Vectors.json"],
            swiftSettings: strict),

        // Floor 3: the stand-ins. They import nothing of ours but each other.
        .target(
            name: "SandboxCore",
            dependencies: [
                httpTypes, crypto, logging,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .target(name: "SandboxStandard", dependencies: ["SandboxCore", httpTypes, crypto], swiftSettings: strict),
        .target(
            name: "SandboxSequencing",
            dependencies: [
                "SandboxCore", httpTypes, crypto, .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Mustache", package: "swift-mustache"),
            ],
            resources: [.embedInCode("Console/file-selector.js"), .embedInCode("Console/console.js")],
            swiftSettings: strict),
        .target(name: "SandboxRecurseCenter", dependencies: ["SandboxCore", httpTypes], swiftSettings: strict),
        .target(
            name: "SandboxIFTTT",
            dependencies: [
                "SandboxCore", httpTypes,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .target(
            name: "Sandbox",
            dependencies: [
                "SandboxCore", "SandboxIFTTT", "SandboxRecurseCenter", "SandboxSequencing", "SandboxStandard",
            ],
            swiftSettings: strict),
        .testTarget(name: "SandboxTests", dependencies: ["WireFixtures", "Sandbox", crypto], swiftSettings: strict),

        // Floor 4: routes for a server.
        .target(
            name: "HandshakeServer",
            dependencies: [
                "ConnectButton", "Handshake", "IFTTTConnect", "OAuth", httpTypes, crypto, logging,
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HandshakeServerTests",
            dependencies: [
                "ClockFixtures", "JSONFixtures", "WireFixtures",
                "HandshakeServer", "ConnectButton", "Handshake", "IFTTTConnect", "OAuth", "Sandbox", httpTypes, crypto,
                logging, .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "GroceryExpress",
            dependencies: [
                "HandshakeServer", "ConnectButton", "Handshake", "IFTTTConnect", "OAuth", "Sandbox", httpTypes, logging,
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Mustache", package: "swift-mustache"),
            ],
            path: "Examples/GroceryExpress", swiftSettings: strict),

        // Floor 5: the command.
        .executableTarget(
            name: "HandshakeCLI",
            dependencies: [
                "Beacons", "DBus", "Handshake", "IFTTTConnect", "Nearby", "OAuth", "Radio", "RecurseCenter", "Sandbox",
                "SecretServiceVault", "Sequencing",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "TOMLKit", package: "TOMLKit"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
