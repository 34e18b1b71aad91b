// swift-tools-version:6.2
import PackageDescription

// Beside the other benchmarks, as it needs none of their dependencies and builds in seconds.
let package = Package(
    name: "geofence-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "handshake", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "geofence-benchmark", dependencies: [.product(name: "Geofences", package: "handshake")],
            path: "Sources/GeofenceBenchmark")
    ],
    swiftLanguageModes: [.v6]
)
