// swift-tools-version:6.2
// Weather My Way for iPhone and iPad: open this folder in Xcode 26 or Swift Playgrounds.
import AppleProductTypes
import PackageDescription

let package = Package(
    name: "WeatherMyWay",
    platforms: [.iOS(.v18)],
    products: [
        .iOSApplication(
            name: "WeatherMyWay", targets: ["App"], bundleIdentifier: "com.example.weather-my-way",
            displayVersion: "1.0", bundleVersion: "1", supportedDeviceFamilies: [.phone, .pad],
            supportedInterfaceOrientations: [.portrait, .landscapeLeft, .landscapeRight])
    ],
    dependencies: [.package(name: "handshake", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "FileSelector", package: "handshake"),
                .product(name: "Handshake", package: "handshake"), .product(name: "OAuth", package: "handshake"),
                .product(name: "Sequencing", package: "handshake"),
            ],
            path: ".", exclude: ["README.md"],
            resources: [
                .embedInCode("Weather/Advice.csv"), .embedInCode("Weather/Forecast.csv"),
                .embedInCode("Weather/Weather.csv"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
