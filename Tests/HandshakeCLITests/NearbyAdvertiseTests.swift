#if CommandLine
import ArgumentParser
import Beacons
import Circles
import Foundation
import Handshake
import OAuth
import TestFixtures
import Testing

@testable import HandshakeCLI
@testable import Nearby
@testable import Radio

/// A circle that the user is in, whose keys are published until the end of a day.
private func join(_ name: String, publishedUntil last: UInt32, in vault: any Vault) async throws {
    let address = "https://circle.example/\(name)"
    let scope = CircleScope(circleAt: address)
    try await CircleRecords(in: vault, community: NearbyCommand.community, scope: scope).change { state in
        var new = CircleRecords.State(
            address: address, circle: name, service: "service", number: 759, name: "Ada", batch: "", bearer: "bearer",
            expires: .max, keys: Data(MemberKeys().reveal()))
        new.seed = Data(RollingSeed.random().reveal())
        new.publishedUntil = last
        state = new
    }
}

@Suite("Sending without listening")
struct NearbyAdvertiseTests {
    /// Sends nothing, and ends when a stream does.
    private struct PatientRadio: Radio {
        let ends: AsyncStream<Void>

        func scan(for interest: ScanInterest) -> Scan { Scan(asking: { { nil } }) }

        func advertise<Source: AsyncSequence & Sendable>(
            _ broadcasts: Source, status: @escaping @Sendable (RadioStatus) -> Void
        ) async throws where Source.Element == Broadcast {
            for await _ in ends {}
            try Task.checkCancellation()
        }
    }

    @Test("CI59: a command that only sends ends with the published keys, which a static number has none of")
    func keysEnd() async throws {
        let vault = MemoryVault()
        try await join("Hub", publishedUntil: 20_454, in: vault)
        let start = 1_767_225_900.0
        let begin = try #require(Timestamp(secondsSince1970: start))
        let scopes = try await OwnScopes(in: vault, community: NearbyCommand.community, at: begin)
        let sending = try NearbySending.parse(["--advertise", "rolling"])
        let broadcasts = try #require(try sending.broadcasts(of: nil, scopes))
        let time = TimeSource(now: HourlyTime(from: start).next, clock: HurriedClock())
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let hasEnded = try await NearbyAdvertise.send(
            broadcasts, of: scopes, over: PatientRadio(ends: ends), in: vault, time: time, status: { _ in })
        end.finish()
        #expect(hasEnded)
        let (over, finish) = AsyncStream.makeStream(of: Void.self)
        finish.finish()
        let isStaticEnded = try await NearbyAdvertise.send(
            broadcasts, of: nil, over: PatientRadio(ends: over), in: vault, time: time, status: { _ in })
        #expect(!isStaticEnded)
    }

    @Test("CI59: a command that ends with the published keys says what to do, for each circle")
    func ending() async throws {
        let vault = MemoryVault()
        let fault = "Your published keys have ended, so sending ends. "
        let changed = await NearbyAdvertise.ending(in: vault)
        #expect(changed == "\(fault)Start it again.")
        for name in ["Hub", "Other"] { try await join(name, publishedUntil: 20_454, in: vault) }
        let words = await NearbyAdvertise.ending(in: vault)
        let sync = "your keys are not published. To publish them now, run: handshake nearby circle sync"
        #expect(words.hasPrefix("\(fault)Since ") && words.hasSuffix(sync), "\(words)")
        #expect(words.contains("\(sync). Since "), "\(words)")
    }
}

extension CommandTests {
    @Suite("What a command that only sends says")
    struct AdvertisingCommandTests {
        private let command: Command

        init() throws { command = try Command() }

        @Test("CI59: a command that only sends names the circle whose keys have ended, beside another one")
        func silence() async throws {
            let (folder, place) = (command.folder + "/vault", "files:\(command.folder)/vault")
            _ = try await command.run("vault", "migrate", "--vault", place)
            let identifier = try #require(try VaultIdentifier.ofVault(in: folder))
            let vault = try FileVault(
                directory: folder, keyFile: "\(command.folder)/.config/handshake/keys/\(identifier).key")
            try await join("Hub", publishedUntil: UInt32(Now.seconds / 86_400) + 2, in: vault)
            try await join("Other", publishedUntil: 20_454, in: vault)
            let done = try await command.run(
                "nearby", "advertise", "--advertise", "rolling", "--duration", "1", "--vault", place,
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(command.folder)/no-bus"])
            #expect(done.stderr.contains("others in Other cannot notice you"), "\(done)")
            #expect(!done.stderr.contains("others in Hub cannot notice you"), "\(done)")
        }
    }
}
#endif
