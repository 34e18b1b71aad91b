// swift-tools-version:6.2
import AppleProductTypes
import PackageDescription

// Open this folder in Xcode, or on an iPad in Swift Playgrounds. Below are the libraries of the repository around it.
let package = Package(
    name: "GroceryExpress",
    platforms: [.iOS("18.0")],
    products: [
        .iOSApplication(
            name: "GroceryExpress", targets: ["GroceryExpress"], bundleIdentifier: "com.example.grocery",
            teamIdentifier: "", displayVersion: "1.0", bundleVersion: "1", appIcon: .placeholder(icon: .carrot),
            accentColor: .presetColor(.green), supportedDeviceFamilies: [.phone, .pad],
            supportedInterfaceOrientations: [.portrait, .landscapeLeft, .landscapeRight],
            additionalInfoPlistContentFilePath: "Info.plist")
    ],
    dependencies: [.package(name: "handshake", path: "../../..", traits: [])],
    targets: [
        .executableTarget(
            name: "GroceryExpress",
            dependencies: [
                .product(name: "ConnectButton", package: "handshake"),
                .product(name: "Geofences", package: "handshake"),
                .product(name: "Handshake", package: "handshake"),
                .product(name: "IFTTTConnect", package: "handshake"),
                .product(name: "OAuth", package: "handshake"),
                .product(name: "Positions", package: "handshake"),
            ],
            path: "Sources")
    ],
    swiftLanguageModes: [.v6]
)
