// swift-tools-version:6.2
import PackageDescription

// An app that takes the libraries without any trait, as apps on Apple's platforms do. On Linux it brings its own transport.
let package = Package(
    name: "app",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [
        .package(name: "handshake", path: "../../..", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .target(name: "Directory"),
        .executableTarget(
            name: "App",
            dependencies: [
                "Directory",
                .product(name: "OAuth", package: "handshake"),
                .product(name: "Handshake", package: "handshake"),
                .product(name: "RecurseCenter", package: "handshake"),
                .product(name: "Sequencing", package: "handshake"),
                .product(name: "IFTTTConnect", package: "handshake"),
                .product(name: "ConnectButton", package: "handshake"),
                .product(name: "ConnectedAccountsUI", package: "handshake"),
                .product(name: "Nearby", package: "handshake"),
                // Their traits are off: they compile to nothing.
                .product(name: "SecretServiceVault", package: "handshake"),
                .product(name: "HandshakeServer", package: "handshake"),
                .product(name: "Sandbox", package: "handshake"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
