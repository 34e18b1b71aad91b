// swift-tools-version:6.2
import AppleProductTypes
import PackageDescription

// Open this folder in Xcode, or on an iPad in Swift Playgrounds. Below are the libraries of the repository around it.
let package = Package(
    name: "NearbyCompanion",
    platforms: [.iOS("18.0")],
    products: [
        .iOSApplication(
            name: "NearbyCompanion", targets: ["NearbyCompanion"], bundleIdentifier: "com.example.nearby",
            teamIdentifier: "", displayVersion: "1.0", bundleVersion: "1", appIcon: .placeholder(icon: .twoPeople),
            accentColor: .presetColor(.green), supportedDeviceFamilies: [.phone, .pad],
            supportedInterfaceOrientations: [.portrait, .landscapeLeft, .landscapeRight],
            additionalInfoPlistContentFilePath: "Info.plist")
    ],
    dependencies: [.package(name: "handshake", path: "../../..", traits: [])],
    targets: [
        .executableTarget(
            name: "NearbyCompanion",
            dependencies: [
                .product(name: "Beacons", package: "handshake"),
                .product(name: "Circles", package: "handshake"),
                .product(name: "Handshake", package: "handshake"),
                .product(name: "Nearby", package: "handshake"),
                .product(name: "Radio", package: "handshake"),
            ],
            path: "Sources")
    ],
    swiftLanguageModes: [.v6]
)
