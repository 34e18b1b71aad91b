// swift-tools-version:6.2
// `OAuth` and its fuzzer alone. `Sources/OAuth` is a link into this repository. Built by `run`.
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]
let instrumented: [SwiftSetting] = [.unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"])]

let package = Package(
    name: "fuzz-oauth",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .target(
            name: "OAuth",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict + instrumented),
        .executableTarget(
            name: "FuzzOAuth",
            dependencies: ["OAuth", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: strict + instrumented,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
    ],
    swiftLanguageModes: [.v6]
)
