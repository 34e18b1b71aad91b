// swift-tools-version:6.2
// The fuzzers of `OAuth`, of `Circles`, of the vault's records and of the settings, with only what they read. `Sources` has links into
// this repository. Built by their `run` scripts.
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]
/// Whether the programs read their corpus once and are timed (`run --times`): then nothing counts what they compare.
let isTimed = Context.environment["FUZZ_TIMES"] != nil
let times: [SwiftSetting] = isTimed ? [.define("TIMES")] : []
let fuzzing = isTimed ? [] : ["-sanitize=fuzzer"]
let instrumented: [SwiftSetting] = [.unsafeFlags(fuzzing + ["-parse-as-library", "-enable-testing"])]
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let extras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")

/// A fuzzer in a folder of its own, beside its corpus.
func fuzzer(_ name: String, in folder: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: ["Budget", "Driver", "OAuth"] + dependencies, path: folder,
        exclude: ["corpus", "run", "words"],
        swiftSettings: strict + instrumented + [.define("CommandLine")],
        linkerSettings: [.unsafeFlags(fuzzing)])
}

let package = Package(
    name: "handshake",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        .target(name: "Budget", swiftSettings: strict + times),
        .target(name: "Driver", cSettings: isTimed ? [.define("TIMES")] : []),
        .target(name: "OAuth", dependencies: [httpTypes, crypto, extras], swiftSettings: strict + instrumented),
        .target(name: "AsyncSupport", swiftSettings: strict),
        .target(name: "Circles", dependencies: [crypto], swiftSettings: strict + instrumented),
        .target(
            name: "Handshake", dependencies: ["AsyncSupport", "OAuth", httpTypes, crypto, logging, metrics, tracing],
            exclude: ["PrivacyInfo.xcprivacy"],
            resources: [.embedInCode("Words/Strings.xcstrings")], swiftSettings: strict + instrumented),
        fuzzer("FuzzOAuth", in: "OAuth", [httpTypes, crypto]),
        fuzzer("FuzzCircles", in: "Circles", ["Circles", crypto]),
        fuzzer("FuzzVault", in: "Vault", ["Handshake", crypto, httpTypes]),
        fuzzer("FuzzSettings", in: "Settings", ["Handshake"]),
    ],
    swiftLanguageModes: [.v6]
)
