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

    @Test(
        "VL43: an account that a failover put back is stored again by the process that has the newer one, and refreshed"
    )
    func failover() async throws {
        let vault = try await folder.vault()
        try await service.make(accountIn: vault)
        let account = try #require(try await service.app(vault).account())
        try await keepRows()
        try await account.refresh()
        try await putRowsBack()
        // Without the newer account in memory, it is left as it is.
        let other = await #expect(throws: HandshakeError.self) { _ = try await service.app(vault).account() }
        #expect(other?.code == "vault_damaged")
        try await account.refresh()
        #expect(try await account.send(.get, "me").head.status == .ok)
        #expect(try await service.sends() == 2)
        let stored = try #require(try await service.app(folder.place.open()).account()).status
        #expect(stored.state == .signedIn && stored.generation == account.status.generation)
    }

    @Test("VL43: a journal that a failover lost ends no session: the refresh is repeated by the process that began it")
    func failoverOfJournal() async throws {
        let vault = try await folder.vault()
        let isCut = Shared(true)
        var service = service
        service.isCut = { isCut.value }
        try await service.make(isForgiving: true, accountIn: vault)
        let account = try #require(try await service.app(vault).account())
        try await keepRows()
        await #expect(throws: HandshakeError.self) { try await account.refresh() }
        try await putRowsBack()
        isCut.change { $0 = false }
        try await account.refresh()
        #expect(try await account.send(.get, "me").head.status == .ok)
    }

    @Test("VL43: an account of a session before the last sign-in is not stored over that one")
    func failoverOfSignIn() async throws {
        let vault = try await folder.vault()
        let now = Shared(1_800_000_000.0)
        var service = service
        service.now = { now.value }
        try await service.make(accountIn: vault)
        let account = try #require(try await service.app(vault).account())
        for _ in 0..<3 { try await account.refresh() }
        now.change { $0 += 1 }
        // The next session counts from the beginning.
        _ = try await #require(try await service.app(vault).account()).signOut()
        let next = try await service.signIn(vault)
        #expect(next.status.generation < account.status.generation)
        try await keepRows()
        try await next.refresh()
        try await putRowsBack()
        let error = await #expect(throws: HandshakeError.self) { try await account.refresh() }
        #expect(error?.code == "vault_damaged")
        #expect(try await service.sends() == 4)
    }

    @Test("VL43: an account is not stored again where its vault has seen what another process stored after it")
    func failoverOfAnother() async throws {
        let vault = try await folder.vault()
        try await service.make(accountIn: vault)
        let account = try #require(try await service.app(vault).account())
        try await account.refresh()
        try await keepRows()
        try await #require(try await service.app(folder.place.open()).account()).refresh()
        _ = try await service.app(vault).account()
        try await putRowsBack()
        // Its refresh token was used by the other process.
        let error = await #expect(throws: HandshakeError.self) { try await account.refresh() }
        #expect(error?.code == "vault_damaged")
        #expect(try await service.sends() == 2)
    }

    private func keepRows() async throws {
        for table in ["record", "lease"] {
            try await folder.edit("CREATE TABLE @.kept_\(table) AS SELECT * FROM @.\(table)")
        }
    }

    /// As after a failover to a replica that did not have the last commits.
    private func putRowsBack() async throws {
        for table in ["record", "lease"] {
            try await folder.edit("DELETE FROM @.\(table)", "INSERT INTO @.\(table) SELECT * FROM @.kept_\(table)")
        }
    }

    @Test(
        "a refresh token whose answer was lost is sent once where the app wants it so, and the session ends after ten minutes"
    )
    func sentOnce() async throws {
        let vault = try await folder.vault()
        let (now, isCut) = (Shared(1_800_000_000.0), Shared(true))
        var service = service
        (service.isRetried, service.isCut, service.now) = (false, { isCut.value }, { now.value })
        try await service.make(isForgiving: true, accountIn: vault)
        let time = TimeSource(now: { now.value }, clock: .continuous)
        let account = try #require(try await service.app(vault, time: time).account())
        let first = await #expect(throws: HandshakeError.self) { try await account.refresh() }
        #expect(first?.code == "refresh_uncertain")
        isCut.change { $0 = false }
        // By this process and by another one.
        for account in [account, try #require(try await service.app(folder.place.open(), time: time).account())] {
            let error = await #expect(throws: HandshakeError.self) { try await account.refresh() }
            #expect(error == .refreshUncertain(account.id, nil))
            // The token of before still serves.
            #expect(try await account.accessToken().matches(Secret("access-0")))
        }
        now.change { $0 += 600 }
        let error = await #expect(throws: HandshakeError.self) { try await account.refresh() }
        #expect(error == .signInRequired(account.id, .answerLost))
        #expect(try await service.sends() == 1)
        let stored = try #require(try await service.app(vault, time: time).account()).status
        #expect(stored.state == .ended(.answerLost))
    }

    @Test("VL25: a refresh token is sent until the service answers, and by no holder after its answer")
    func answered() async throws {
        let vaults = [try await folder.vault(), try await folder.place.open()]
        let isCut = Shared(true)
        var service = service
        service.isCut = { isCut.value }
        try await service.make(accountIn: vaults[0])
        let account = try #require(try await service.app(vaults[0]).account())
        let first = await #expect(throws: HandshakeError.self) { try await account.refresh() }
        #expect(first?.code == "refresh_uncertain")
        // Once, and again when the connection was cut.
        #expect(try await service.sends() == 2)
        isCut.change { $0 = false }
        let accounts = [account, try #require(try await service.app(vaults[1]).account())]
        for account in accounts.reversed() + accounts {
            let error = await #expect(throws: HandshakeError.self) { try await account.refresh() }
            #expect(error == .signInRequired(account.id, .answerLost))
        }
        #expect(try await service.sends() == 3)
    }

    #if os(Linux)
    @Test(
        "VL3: a refresh that is sent once, and whose process was stopped before it sent it, is sent by that process alone, and its answer is stored",
        .timeLimit(.minutes(10)))
    func stoppedBefore() async throws { try await stoppedOnce(before: true) }

    @Test(
        "VL6: a refresh that is sent once is stored late when its process was stopped and lost the record meanwhile",
        .timeLimit(.minutes(10)))
    func stoppedAfter() async throws { try await stoppedOnce(before: false) }

    private func stoppedOnce(before: Bool) async throws {
        let vault = try await folder.vault(
            LeaseTiming(
                unchecked: .seconds(45), renewal: .seconds(5), observation: .milliseconds(700)))
        var service = service
        service.isRetried = false
        try await service.make(accountIn: vault)
        async let refresh: Void = refreshOnceWhileStopped(folder.place, before: before)
        let account = try #require(try await service.app(vault).account())
        try await folder.place.whileStopped {
            try await folder.edit("UPDATE @.lease SET until = until - interval '60 s'")
            let error = await #expect(throws: HandshakeError.self) { try await account.refresh() }
            #expect(error == .refreshUncertain(account.id, nil))
            #expect(try await service.sends() == (before ? 0 : 1))
        }
        await refresh
        #expect(try await service.sends() == 1)
        #expect(try await account.send(.get, "me").head.status == .ok)
        #expect(try await service.sends() == 1)
        #expect(account.status.state == .signedIn)
    }

    @Test(
        "VL4: a refresh whose process was stopped when the service had its token is stored when it goes on",
        .timeLimit(.minutes(10)))
    func stoppedAlone() async throws {
        let vault = try await folder.vault()
        try await service.make(accountIn: vault)
        let before = try #require(try await service.app(vault).account()).status.generation
        async let refresh: Void = refreshWhileStopped(folder.place)
        try await folder.place.whileStopped {
            // As if the lease had ended a minute ago by the server's clock.
            try await folder.edit("UPDATE @.lease SET until = until - interval '60 s'")
        }
        await refresh
        let account = try #require(try await service.app(vault).account())
        #expect(account.status.state == .signedIn && account.status.generation == before + 1)
        try await account.refresh()
        #expect(try await service.sends() == 2)
    }

    @Test(
        "VL4: a refresh whose process was stopped for longer than a hold is renewed is stored when it goes on",
        .timeLimit(.minutes(10)))
    func stoppedForLong() async throws {
        let vault = try await folder.vault()
        try await service.make(accountIn: vault)
        let before = try #require(try await service.app(vault).account()).status.generation
        async let refresh: Void = refreshWhileStopped(folder.place, limit: 3)
        try await folder.place.whileStopped {
            // A time and no event: what is tested is that more time passes than the limit has.
            try await Task.sleep(for: .seconds(5))
            try await folder.edit("UPDATE @.lease SET until = until - interval '60 s'")
        }
        await refresh
        let account = try #require(try await service.app(vault).account())
        #expect(account.status.state == .signedIn && account.status.generation == before + 1)
        #expect(try await service.sends() == 1)
    }

    @Test(
        "VL5: a refresh whose process was stopped so and lost the record is sent twice, and what the other one stored stays",
        .timeLimit(.minutes(10)), arguments: [true, false])
    func robbed(isForgiving: Bool) async throws {
        let vault = try await folder.vault(
            LeaseTiming(
                unchecked: .seconds(45), renewal: .seconds(5), observation: .milliseconds(700)))
        try await service.make(isForgiving: isForgiving, accountIn: vault)
        async let refresh: Void = refreshWhileStopped(folder.place, isRobbed: true, isForgiving: isForgiving)
        let account = try #require(try await service.app(vault).account())
        try await folder.place.whileStopped {
            try await folder.edit("UPDATE @.lease SET until = until - interval '60 s'")
            if isForgiving {
                try await account.refresh()
            } else {
                let error = await #expect(throws: HandshakeError.self) { try await account.refresh() }
                #expect(error == .signInRequired(account.id, .answerLost))
            }
        }
        await refresh
        #expect(try await service.sends() == 2)
        let stored = try #require(try await service.app(vault).account()).status
        #expect(stored.state == (isForgiving ? .signedIn : .ended(.answerLost)))
        if isForgiving { #expect(try await account.send(.get, "me").head.status == .ok) }
    }
    #endif
}

#if os(Linux)
/// - Parameter limit: after how many seconds the hold is not renewed any more. The renewal then notices the stop before the answer is stored.
private func refreshWhileStopped(
    _ place: PostgresPlace, isRobbed: Bool = false, isForgiving: Bool = false, limit: Int = 300
) async {
    await #expect(processExitsWith: .success) {
        [
            place = place as PostgresPlace, isRobbed = isRobbed as Bool, isForgiving = isForgiving as Bool,
            limit = limit as Int
        ] in
        var service = try StrictService(place)
        service.isProcessed = {
            place.stop()
            // Longer than the limit. That the renewal has noticed it can be seen nowhere.
            if limit < 300 { holdThread(for: 4) }
        }
        let account = try #require(try await service.app(place.open(bodyLimit: .seconds(limit))).account())
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

private func refreshOnceWhileStopped(_ place: PostgresPlace, before: Bool) async {
    await #expect(processExitsWith: .success) { [place = place as PostgresPlace, before = before as Bool] in
        var service = try StrictService(place)
        service.isRetried = false
        if before { service.isSent = { place.stop() } } else { service.isProcessed = { place.stop() } }
        let account = try #require(try await service.app(place.open()).account())
        try await account.refresh()
        #expect(account.status.state == .signedIn)
    }
}
#endif
