// swift-tools-version:6.2
import PackageDescription

let traits = ["AsyncHTTPClient", "Server", "Sandbox", "Desktop", "CommandLine"]

// SwiftPM 6.3.1 passes the names of enabled traits to the compiler in another order at each start, which compiles everything again. So one
// trait stands for all, and the conditions of the sources are defined here, in one order.
let everything = "Everything"
let databases = ["SQLite", "PostgreSQL"]

let strict: [SwiftSetting] =
    traits.map { .define($0, .when(traits: [everything])) }
    + databases.map { .define($0, .when(traits: ["Databases"])) } + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
    ]

let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")

// What follows is resolved only where one of its traits is on. A use without the condition would make every app resolve it.
let argumentParser: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: [everything, "CommandLine"]))
let bigInt: Target.Dependency = .product(
    name: "BigInt", package: "BigInt", condition: .when(traits: [everything, "Desktop"]))
let mustache: Target.Dependency = .product(
    name: "Mustache", package: "swift-mustache", condition: .when(traits: [everything, "Sandbox"]))
let hummingbird: Target.Dependency = .product(
    name: "Hummingbird", package: "hummingbird", condition: .when(traits: [everything, "Server", "Sandbox"]))
let hummingbirdCore: Target.Dependency = .product(
    name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: [everything, "Sandbox"]))
let hummingbirdTLS: Target.Dependency = .product(
    name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: [everything, "Sandbox"]))
let sandboxTLS: Target.Dependency = .product(
    name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: [everything, "Sandbox"]))
let serviceLifecycle: Target.Dependency = .product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle",
    condition: .when(traits: [everything, "Server", "Sandbox"]))
// GRDB and the system's SQLite.
let grdb: Target.Dependency = .product(
    name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["SQLite", "Databases"]))
func nio(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-nio", condition: .when(traits: [everything, "Server", "Sandbox"]))
}

// The transport on Linux; Apple's platforms have URLSession.
func transport(_ name: String, _ package: String) -> Target.Dependency {
    .product(
        name: name, package: package, condition: .when(platforms: [.linux], traits: [everything, "AsyncHTTPClient"]))
}

// BlueZ, GeoClue and a desktop's notifications, which no Apple platform has.
func desktop(_ name: String) -> Target.Dependency {
    .target(name: name, condition: .when(platforms: [.linux], traits: [everything, "Desktop"]))
}

// Privacy manifests are for Apple's platforms. Elsewhere a resource would make every program carry a bundle.
#if os(Linux)
let privacyManifest: [Resource] = []
let unusedPrivacyManifest = ["PrivacyInfo.xcprivacy"]
#else
let privacyManifest: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
let unusedPrivacyManifest: [String] = []
#endif

let package = Package(
    name: "handshake",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "OAuth", targets: ["OAuth"]),
        .library(name: "Beacons", targets: ["Beacons"]),
        .library(name: "Circles", targets: ["Circles"]),
        .library(name: "Geofences", targets: ["Geofences"]),
        .library(name: "Positions", targets: ["Positions"]),
        .library(name: "Radio", targets: ["Radio"]),
        .library(name: "Handshake", targets: ["Handshake"]),
        .library(name: "Sequencing", targets: ["Sequencing"]),
        .library(name: "SecretServiceVault", targets: ["SecretServiceVault"]),
        .library(name: "SQLiteVault", targets: ["SQLiteVault"]),
        .library(name: "PostgresVault", targets: ["PostgresVault"]),
        .library(name: "RecurseCenter", targets: ["RecurseCenter"]),
        .library(name: "Nearby", targets: ["Nearby"]),
        .library(name: "IFTTTConnect", targets: ["IFTTTConnect"]),
        .library(name: "ConnectButton", targets: ["ConnectButton"]),
        .library(name: "FileSelector", targets: ["FileSelector"]),
        .library(name: "ConnectedAccountsUI", targets: ["ConnectedAccountsUI"]),
        .library(name: "HandshakeServer", targets: ["HandshakeServer"]),
        .library(name: "Sandbox", targets: ["Sandbox"]),
        .executable(name: "handshake", targets: ["HandshakeCLI"]),
    ],
    traits: [
        .trait(name: "AsyncHTTPClient", description: "The transport on Linux. Without it, an app brings its own."),
        .trait(name: "Server", description: "HandshakeServer: routes for Hummingbird."),
        .trait(name: "Sandbox", description: "Every supported service on loopback, for tests and demonstrations."),
        .trait(name: "Desktop", description: "Linux desktops: BlueZ, GeoClue, notifications, the Secret Service."),
        .trait(
            name: "CommandLine", description: "The command handshake.",
            enabledTraits: ["AsyncHTTPClient", "Sandbox", "Desktop"]),
        .trait(name: "Everything", description: "All of the above; on by default."),
        .trait(
            name: "SQLite", description: "SQLiteVault: accounts in one SQLite file. Needs the system library sqlite3."),
        .trait(
            name: "PostgreSQL",
            description: "PostgresVault: accounts in a PostgreSQL database. Needs the system library libpq."),
        .trait(name: "Databases", description: "SQLite and PostgreSQL."),
        .default(enabledTraits: ["Everything"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/attaswift/BigInt", from: "6.0.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // Floor 0: the protocol as values.
        .target(
            name: "OAuth",
            dependencies: [httpTypes, crypto, cryptoExtras],
            swiftSettings: strict),
        .testTarget(
            name: "OAuthTests",
            dependencies: ["OAuth", "TestFixtures", httpTypes, crypto, cryptoExtras],
            swiftSettings: strict),
        .target(name: "Beacons", dependencies: ["AsyncSupport", crypto], swiftSettings: strict),
        .testTarget(
            name: "BeaconsTests",
            dependencies: ["Beacons", "TestFixtures", crypto, cryptoExtras],
            exclude: ["ROWS.md"], swiftSettings: strict),
        .target(name: "Circles", dependencies: [crypto], swiftSettings: strict),
        .testTarget(name: "CirclesTests", dependencies: ["Circles", crypto], swiftSettings: strict),
        .target(name: "Geofences", dependencies: ["AsyncSupport"], swiftSettings: strict),
        .testTarget(
            name: "GeofencesTests", dependencies: ["Geofences", "TestFixtures"],
            exclude: ["ROWS.md", "Vectors/generate.py"],
            resources: [.embedInCode("Vectors/geodesic.csv")], swiftSettings: strict),

        // Floor 0: deadlines, queues, files and texts of errors, for all floors.
        .target(name: "AsyncSupport", swiftSettings: strict),

        // Floor 0: the large words and scripts of the user interfaces, embedded by C's compiler.
        .target(name: "HandshakeEmbeddedFiles"),

        // Floor 0: string catalogues and the locales that they are in.
        .target(name: "Translations", dependencies: ["HandshakeEmbeddedFiles"], swiftSettings: strict),

        // Floor 0: the message bus, for BlueZ, the Secret Service and notifications. It knows none of them.
        .target(name: "DBus", dependencies: ["AsyncSupport"], swiftSettings: strict),
        .target(name: "ThreadSanitizerLock", path: "Tests/ThreadSanitizerLock"),
        .target(
            name: "TestFixtures", dependencies: ["ThreadSanitizerLock"], path: "Tests/TestFixtures",
            swiftSettings: strict),
        .testTarget(name: "TestFixturesTests", dependencies: ["TestFixtures"], swiftSettings: strict),
        .target(name: "JSONFixtures", dependencies: ["OAuth"], path: "Tests/JSONFixtures", swiftSettings: strict),
        .target(
            name: "MessageFixtures", dependencies: ["OAuth", httpTypes], path: "Tests/MessageFixtures",
            swiftSettings: strict),
        .target(
            name: "BusFixtures", dependencies: ["DBus", "TestFixtures"], path: "Tests/BusFixtures",
            swiftSettings: strict),
        .testTarget(
            name: "DBusTests", dependencies: ["DBus", "BusFixtures", "AsyncSupport", "TestFixtures"],
            swiftSettings: strict
        ),

        // The repository's own pages.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "Beacons", "Circles", "ConnectButton", "FileSelector", "Geofences", "Handshake", "HandshakeServer",
                "IFTTTConnect", "Nearby", "OAuth", "Positions", "Radio", "RecurseCenter", "Sandbox", "Sequencing",
                "TestFixtures",
                httpTypes, hummingbird, metrics, tracing,
            ],
            exclude: ["Monitoring/alerts-test.yml"], swiftSettings: strict),

        // Floor 1: what a Linux desktop offers over its bus.
        .target(
            name: "DesktopServices",
            dependencies: [
                "DBus", crypto, cryptoExtras, bigInt,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "DesktopServicesTests",
            dependencies: ["DesktopServices", "DBus", "BusFixtures", "TestFixtures", crypto],
            swiftSettings: strict),

        // Floor 1: accounts, vaults, transports.
        .target(
            name: "Handshake",
            dependencies: [
                "AsyncSupport", "OAuth", httpTypes, crypto, logging, metrics, tracing,
                transport("AsyncHTTPClient", "async-http-client"),
                transport("NIOCore", "swift-nio"), transport("NIOHTTP1", "swift-nio"),
                transport("NIOPosix", "swift-nio"), transport("NIOSSL", "swift-nio-ssl"),
            ],
            exclude: unusedPrivacyManifest,
            resources: [.embedInCode("Words/Strings.xcstrings")] + privacyManifest,
            swiftSettings: strict),
        .testTarget(
            name: "HandshakeTests",
            dependencies: [
                "Handshake", "OAuth", "AsyncSupport", "Sandbox", "TestFixtures", httpTypes, crypto, cryptoExtras,
                logging, metrics, tracing,
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                transport("NIOCore", "swift-nio"), transport("NIOPosix", "swift-nio"),
                transport("NIOSSL", "swift-nio-ssl"),
            ],
            swiftSettings: strict),

        .target(
            name: "Positions", dependencies: ["AsyncSupport", "Geofences", desktop("DBus")], swiftSettings: strict),
        .testTarget(
            name: "PositionsTests",
            dependencies: [
                "Positions", "AsyncSupport", "Geofences", "TestFixtures",
            ],
            swiftSettings: strict),

        .target(
            name: "Radio", dependencies: ["Beacons", "AsyncSupport", "OAuth", desktop("DBus")], swiftSettings: strict),
        .testTarget(
            name: "RadioTests",
            dependencies: ["AsyncSupport", "Radio", "Beacons", "DBus", "BusFixtures", "TestFixtures"],
            swiftSettings: strict),

        // Floor 2: a vault whose key the desktop keeps.
        .target(
            name: "SecretServiceVault", dependencies: ["Handshake", "DBus", "DesktopServices"], swiftSettings: strict),
        .testTarget(
            name: "SecretServiceVaultTests",
            dependencies: [
                "SecretServiceVault", "BusFixtures", "DBus", "DesktopServices", "Handshake", "TestFixtures",
            ],
            swiftSettings: strict),

        // Floor 2: a vault in one SQLite file. Empty without its trait; Tests/Databases has its tests.
        .target(name: "SQLiteVault", dependencies: ["Handshake", grdb], swiftSettings: strict),

        // Floor 2: a vault in a PostgreSQL database. Empty without its trait; Tests/Databases has its tests.
        .target(
            name: "PostgresVault",
            dependencies: [
                "AsyncSupport", "Handshake",
                .target(name: "CLibpq", condition: .when(traits: ["PostgreSQL", "Databases"])),
            ],
            swiftSettings: strict),
        .systemLibrary(
            name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),

        // Floor 2: one kit a service.
        .target(
            name: "Sequencing",
            dependencies: [
                "AsyncSupport", "Handshake", "OAuth", httpTypes, crypto, cryptoExtras,
            ],
            exclude: unusedPrivacyManifest, resources: privacyManifest,
            swiftSettings: strict),
        .testTarget(
            name: "SequencingTests",
            dependencies: [
                "FileSelector", "MessageFixtures", "TestFixtures", "Sequencing", "Handshake", "OAuth", "Sandbox",
                "WeatherMyWay",
                httpTypes,
            ],
            exclude: ["ROWS.md"], swiftSettings: strict),
        // As a newcomer's package compiles it: without our settings.
        .executableTarget(name: "FirstSignIn", dependencies: ["Handshake", "OAuth"], path: "Examples/FirstSignIn"),
        .target(
            name: "IFTTTConnect",
            dependencies: ["AsyncSupport", "Geofences", "Handshake", "OAuth", httpTypes, crypto, logging],
            exclude: unusedPrivacyManifest,
            resources: privacyManifest,
            swiftSettings: strict),
        .testTarget(
            name: "IFTTTConnectTests",
            dependencies: [
                "JSONFixtures", "MessageFixtures", "TestFixtures",
                "Geofences", "IFTTTConnect", "Handshake", "OAuth", "Sandbox", httpTypes, logging,
            ],
            exclude: ["ROWS.md"], swiftSettings: strict),

        .target(
            name: "RecurseCenter",
            dependencies: ["AsyncSupport", "Geofences", "Handshake", "OAuth", httpTypes, crypto],
            exclude: unusedPrivacyManifest,
            resources: privacyManifest,
            swiftSettings: strict),
        .testTarget(
            name: "RecurseCenterTests",
            dependencies: [
                "MessageFixtures", "TestFixtures", "Geofences", "RecurseCenter", "Handshake", "OAuth", "Sandbox",
                httpTypes,
            ],
            exclude: ["ROWS.md"], swiftSettings: strict),
        .target(
            name: "Nearby",
            dependencies: [
                "AsyncSupport", "Circles", "Handshake", "OAuth", "Beacons", "Radio", crypto, desktop("DBus"),
                desktop("DesktopServices"),
            ],
            exclude: unusedPrivacyManifest,
            resources: privacyManifest,
            swiftSettings: strict),
        .testTarget(
            name: "NearbyTests",
            dependencies: [
                "Nearby", "Beacons", "BusFixtures", "Circles", "DBus", "Handshake", "OAuth", "Radio", "TestFixtures",
            ],
            exclude: ["ROWS.md"], swiftSettings: strict),

        // Floor 3: the button, as data and in two renderings.
        .target(
            name: "ConnectButton",
            dependencies: ["HandshakeEmbeddedFiles", "Handshake", "IFTTTConnect", "OAuth", "Translations", logging],
            // Scripts/minify-button makes the script that is embedded.
            exclude: ["Words/Strings.xcstrings", "Web/connect-button.js", "Web/connect-button.min.js"],
            swiftSettings: strict),
        .testTarget(
            name: "ConnectButtonTests",
            dependencies: [
                "ConnectButton", "Handshake", "IFTTTConnect", "OAuth", "Sandbox", "TestFixtures", "Translations",
                crypto,
                logging,
            ],
            exclude: ["Vectors.json", "ROWS.md"],
            swiftSettings: strict),

        // Floor 3: the choice of a genetic file and the sheet for registration, as data and in two renderings.
        .target(
            name: "FileSelector",
            dependencies: ["HandshakeEmbeddedFiles", "Handshake", "OAuth", "Sequencing", "Translations"],
            exclude: [
                "Words/Strings.xcstrings", "Look/Look.json", "Web/shared.js", "Web/file-selector.js",
                "Web/registration-sheet.js",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FileSelectorTests",
            dependencies: ["FileSelector", "Handshake", "OAuth", "Sequencing", "TestFixtures", "Translations"],
            exclude: ["Fixtures/file-selector-cases.json"], swiftSettings: strict),

        // Floor 3: the list of a user's accounts, as data and in two renderings.
        .target(
            name: "ConnectedAccountsUI",
            dependencies: ["HandshakeEmbeddedFiles", "Handshake", "OAuth", "Translations", httpTypes],
            exclude: ["Words/Strings.xcstrings", "Web/connected-accounts.js"], swiftSettings: strict),
        .testTarget(
            name: "ConnectedAccountsUITests",
            dependencies: [
                "ConnectedAccountsUI", "Handshake", "OAuth", "Sandbox", "TestFixtures", "Translations", httpTypes,
            ],
            swiftSettings: strict),

        // Floor 3: the stand-ins. They import nothing of ours but each other.
        .target(
            name: "SandboxCore",
            dependencies: [
                httpTypes, crypto, logging, hummingbird, hummingbirdCore, hummingbirdTLS, mustache, nio("NIOCore"),
                sandboxTLS,
                serviceLifecycle,
            ],
            swiftSettings: strict),
        .target(
            name: "SandboxStandard", dependencies: ["SandboxCore", httpTypes, crypto, cryptoExtras],
            swiftSettings: strict),
        .target(
            name: "SandboxSequencing",
            dependencies: [
                "SandboxCore", httpTypes, crypto, cryptoExtras, mustache,
            ],
            swiftSettings: strict),
        .target(name: "SandboxRecurseCenter", dependencies: ["SandboxCore", httpTypes], swiftSettings: strict),
        .target(name: "SandboxServices", dependencies: ["SandboxCore", httpTypes, crypto], swiftSettings: strict),
        .target(
            name: "SandboxIFTTT",
            dependencies: [
                "SandboxCore", httpTypes, mustache, nio("NIOCore"), nio("NIOHTTP1"), nio("NIOPosix"),
            ],
            swiftSettings: strict),
        .target(
            name: "Sandbox",
            dependencies: [
                "SandboxCore", "SandboxIFTTT", "SandboxRecurseCenter", "SandboxSequencing", "SandboxServices",
                "SandboxStandard",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SandboxTests", dependencies: ["TestFixtures", "Sandbox", "SandboxCore", crypto],
            swiftSettings: strict),

        // Floor 4: routes for a server.
        .target(
            name: "HandshakeServer",
            dependencies: [
                "ConnectButton", "ConnectedAccountsUI", "FileSelector", "AsyncSupport", "Circles", "Handshake",
                "IFTTTConnect", "OAuth", "Sequencing", httpTypes, crypto, logging, hummingbird, nio("NIOCore"),
                serviceLifecycle,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HandshakeServerTests",
            dependencies: [
                "JSONFixtures", "TestFixtures",
                "Beacons", "Circles", "Nearby", "RecurseCenter",
                "HandshakeServer", "ConnectButton", "ConnectedAccountsUI", "FileSelector", "Handshake", "IFTTTConnect",
                "OAuth", "Sandbox", "Sequencing", httpTypes, crypto,
                logging, metrics, hummingbird, nio("NIOCore"), serviceLifecycle,
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: strict),
        // What the samples that serve pages have in common.
        .target(
            name: "ExampleServer", dependencies: [httpTypes, hummingbird, logging, nio("NIOCore")],
            path: "Examples/Shared", swiftSettings: strict),
        .executableTarget(
            name: "GroceryExpress",
            dependencies: [
                "ExampleServer", "HandshakeServer", "ConnectButton", "Geofences", "Handshake", "IFTTTConnect", "OAuth",
                "Sandbox",
                httpTypes, logging, hummingbird, nio("NIOCore"), mustache,
            ],
            path: "Examples/GroceryExpress",
            resources: [.embedInCode("Web/plain.html"), .embedInCode("Web/react.html")], swiftSettings: strict),
        .executableTarget(
            name: "WeatherMyWay",
            dependencies: [
                "ExampleServer", "HandshakeServer", "FileSelector", "Handshake", "OAuth", "Sandbox", "Sequencing",
                httpTypes, logging, hummingbird, nio("NIOCore"), mustache,
            ],
            path: "Examples/WeatherMyWay", exclude: ["README.md"],
            resources: [
                .embedInCode("Weather/Advice.csv"), .embedInCode("Weather/Forecast.csv"),
                .embedInCode("Weather/Weather.csv"), .embedInCode("Web/weather.js"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "ConnectedAccounts",
            dependencies: [
                "ExampleServer", "HandshakeServer", "Handshake", "OAuth", "SQLiteVault", "Sandbox", httpTypes, logging,
                metrics, crypto,
                hummingbird, serviceLifecycle, nio("NIOCore"), mustache,
            ],
            path: "Examples/ConnectedAccounts", swiftSettings: strict),
        .executableTarget(
            name: "CircleServer",
            dependencies: [
                "ExampleServer", "HandshakeServer", "Handshake", "OAuth", "RecurseCenter", "Sandbox", logging,
                hummingbird,
            ],
            path: "Examples/CircleServer", swiftSettings: strict),

        // Floor 5: the command.
        .executableTarget(
            name: "HandshakeCLI",
            dependencies: [
                "AsyncSupport", "Beacons", "Circles", "DBus", "Geofences", "Handshake", "IFTTTConnect", "Nearby",
                "OAuth", "FileSelector", "Positions", "Radio",
                "PostgresVault", "RecurseCenter", "SQLiteVault", "Sandbox", "SecretServiceVault", "Sequencing",
                // Empty, unless the thread sanitizer is on.
                "ThreadSanitizerLock",
                argumentParser, httpTypes, logging, hummingbird, hummingbirdCore, nio("NIOCore"), serviceLifecycle,
            ],
            resources: ["html", "css", "js"].map { .embedInCode("Companion/Web/companion.\($0)") },
            swiftSettings: strict),
        .testTarget(
            name: "HandshakeCLITests",
            dependencies: [
                "BusFixtures", "TestFixtures", "HandshakeCLI", "Beacons", "Circles", "Geofences", "Handshake", "Nearby",
                "IFTTTConnect", "OAuth", "Positions",
                "Radio", "RecurseCenter", "Sandbox", "Sequencing", argumentParser, httpTypes,
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    // For `#embed` in HandshakeEmbeddedFiles.
    cLanguageStandard: .c2x
)
