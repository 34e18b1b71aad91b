import Foundation
import HTTPTypes
import Handshake
import OAuth
import TestFixtures
import Testing

@testable import PostgresVault

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite(
    "Refreshes with a PostgreSQL vault", .heavy, .ownThreads, .serialized,
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresRefreshTests {
    private let folder: PostgresFolder
    private let service: StrictService

    init() async throws {
        folder = try await PostgresFolder()
        service = try StrictService(folder.place)
    }

    @Test(
        "machines whose clocks are an hour apart lose no session: the later one's refresh costs the other one another")
    func clocks() async throws {
        let server = Shared(1_800_000_000.0)
        var service = service
        service.now = { server.value }
        let vaults = [try await folder.vault(), try await folder.place.open()]
        try await service.make(accountIn: vaults[0])
        let (right, behind) = (
            try await service.app(vaults[0], time: .init(now: { server.value }, clock: .continuous)).account(),
            try await service.app(vaults[1], time: .init(now: { server.value - 3_600 }, clock: .continuous)).account()
        )
        let machines = try [#require(behind), #require(right)]
        for _ in 0..<48 {
            server.change { $0 += 300 }
            for account in machines { #expect(try await account.send(.get, "me").head.status == .ok) }
        }
        // In four hours: each hour the one that is behind asks first, with a token that has expired, and then the other one, for which
        // the new token has expired too.
        #expect(try await service.sends() == 8)
        for account in machines { #expect(account.status.state == .signedIn) }
    }

    #if os(Linux)
    @Test("VL4: a refresh whose process was stopped when the service had its token is stored when it goes on")
    func stoppedAlone() async throws {
        let vault = try await folder.vault()
        try await service.make(accountIn: vault)
        let before = try #require(try await service.app(vault).account()).status.generation
        async let refresh: Void = refreshWhileStopped(folder.place)
        let process = try await folder.place.stoppedProcess()
        // As if the lease had ended a minute ago by the server's clock.
        try await folder.edit("UPDATE @.lease SET until = until - interval '60 s'")
        kill(process, SIGCONT)
        await refresh
        let account = try #require(try await service.app(vault).account())
        #expect(account.status.state == .signedIn && account.status.generation == before + 1)
        try await account.refresh()
        #expect(try await service.sends() == 2)
    }

    @Test(
        "VL5: a refresh whose process was stopped so and lost the record is sent twice, and what the other one stored stays",
        arguments: [true, false])
    func robbed(isForgiving: Bool) async throws {
        let vault = try await folder.vault(
            LeaseTiming(
                unchecked: .seconds(45), renewal: .seconds(5), observation: .milliseconds(700)))
        try await service.make(isForgiving: isForgiving, accountIn: vault)
        async let refresh: Void = refreshWhileStopped(folder.place, isRobbed: true, isForgiving: isForgiving)
        let process = try await folder.place.stoppedProcess()
        try await folder.edit("UPDATE @.lease SET until = until - interval '60 s'")
        let account = try #require(try await service.app(vault).account())
        if isForgiving {
            try await account.refresh()
        } else {
            let error = await #expect(throws: HandshakeError.self) { try await account.refresh() }
            #expect(error == .signInRequired(account.id, .answerLost))
        }
        kill(process, SIGCONT)
        await refresh
        #expect(try await service.sends() == 2)
        let stored = try #require(try await service.app(vault).account()).status
        #expect(stored.state == (isForgiving ? .signedIn : .ended(.answerLost)))
        if isForgiving { #expect(try await account.send(.get, "me").head.status == .ok) }
    }
    #endif
}

#if os(Linux)
private func refreshWhileStopped(_ place: PostgresPlace, isRobbed: Bool = false, isForgiving: Bool = false) async {
    await #expect(processExitsWith: .success) {
        [place = place as PostgresPlace, isRobbed = isRobbed as Bool, isForgiving = isForgiving as Bool] in
        var service = try StrictService(place)
        service.isProcessed = {
            try? "\(getpid())".write(toFile: place.journal, atomically: true, encoding: .utf8)
            // For this thread, which goes no further: one for the process may come to another thread first.
            raise(SIGSTOP)
        }
        let account = try #require(try await service.app(place.open()).account())
        guard isRobbed else { return try await account.refresh() }
        let error = await #expect(throws: HandshakeError.self) { try await account.refresh() }
        #expect(error?.code == "vault_unavailable")
        // What the other process stored is there, and is not sent for again.
        if isForgiving {
            #expect(try await account.send(.get, "me").head.status == .ok)
        } else {
            let end = await #expect(throws: HandshakeError.self) { try await account.accessToken() }
            #expect(end == .signInRequired(account.id, .answerLost))
        }
    }
}

extension PostgresPlace {
    /// The number of the process that stopped itself, when it has.
    func stoppedProcess() async throws -> pid_t {
        while true {
            if let text = try? String(contentsOfFile: journal, encoding: .utf8), let number = pid_t(text) {
                let status = (try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)) ?? ""
                if status.contains(") T ") { return number }
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
#endif
