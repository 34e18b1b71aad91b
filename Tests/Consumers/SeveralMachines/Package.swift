// swift-tools-version:6.2
import PackageDescription

// A server of which several run: the routes, a keeper, the transport on Linux, and the vault that they share.
let package = Package(
    name: "several-machines",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "handshake", path: "../../..", traits: ["AsyncHTTPClient", "Server", "PostgreSQL"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "Server",
            dependencies: [
                .product(name: "Handshake", package: "handshake"),
                .product(name: "HandshakeServer", package: "handshake"),
                .product(name: "OAuth", package: "handshake"),
                .product(name: "PostgresVault", package: "handshake"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
