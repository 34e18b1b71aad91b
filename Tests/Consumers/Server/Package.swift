// swift-tools-version:6.2
import PackageDescription

// A server: the routes, and the transport on Linux.
let package = Package(
    name: "server",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "handshake", path: "../../..", traits: ["AsyncHTTPClient", "Server"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "Server",
            dependencies: [
                .product(name: "Handshake", package: "handshake"),
                .product(name: "HandshakeServer", package: "handshake"),
                .product(name: "OAuth", package: "handshake"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
