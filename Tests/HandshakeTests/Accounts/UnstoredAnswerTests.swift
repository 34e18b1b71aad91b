import HTTPTypes
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import Handshake

@Suite("Answers that a vault could not take")
struct UnstoredAnswerTests {
    private let client: Client
    /// Stands still, so that no token expires while the machine is busy.
    private let clock = ManualClock()
    private static let now = 1_750_000_000.0

    init() throws {
        let server = AuthorizationServerMetadata(
            issuer: try Issuer("https://as.example"), tokenEndpoint: try EndpointURL("https://as.example/token"))
        let service = try Service(
            name: "s", authorizationServer: .described(server), apiRoot: try EndpointURL("https://api.example/v1/"))
        client = Client(service: service, id: "c")
    }

    private func id(_ name: String) -> AccountID { AccountID(client, name: name) }

    private func put(_ token: String, under name: String = "a", in vault: any Vault) async throws {
        let record = AccountRecord(
            id: id(name),
            grant: Grant(
                accessToken: Secret(token), expiresAt: Self.now - 1, issuedAt: Self.now - 3_600,
                refreshToken: Secret("R1"), scopes: []),
            state: .signedIn, refreshMethod: .refreshToken, generation: 1, server: nil)
        try await vault.update(id(name).vaultKey) { try await $0.replace(with: record.stored()) }
    }

    /// The access token that is stored; nil while a refresh is in the journal.
    private func stored(_ name: String = "a", in vault: any Vault) async throws -> String? {
        let bytes = try #require(try await vault.record(id(name).vaultKey))
        let record = try AccountRecord(stored: bytes, expected: id(name))
        return record.isUnfinished ? nil : record.grant.accessToken.reveal()
    }

    /// A process whose vault did not take the answer of a refresh of each account.
    private func process(_ names: [String] = ["a"], in vault: TroubledVault) async throws -> Handshake {
        let count = Atomic(1)
        let transport = TappedTransport { _, _, _ in
            let number = count.add(1, ordering: .relaxed).newValue
            let json =
                #"{"access_token":"A\#(number)","token_type":"Bearer","expires_in":3600,"refresh_token":"R\#(number)"}"#
            return ResponseMessage(head: HTTPResponse(status: .ok), content: Array(json.utf8))
        }
        let handshake = try Handshake(
            client, vault: vault, transport: transport, time: TimeSource(now: { Self.now }, clock: clock))
        for name in names {
            try await put("A1", under: name, in: vault)
            try await fail(try #require(try await handshake.account(name)), in: vault)
        }
        return handshake
    }

    private func fail(_ account: Account, in vault: TroubledVault) async throws {
        vault.base.failReplacement(number: 2)
        #expect(await handshakeError { try await account.refresh() }?.code == "vault_unavailable")
        #expect(account.unstored != nil)
    }

    /// Lets time pass until a condition holds, or five minutes have really passed.
    private func pass(until isDone: () async throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now.advanced(by: .seconds(300))
        while ContinuousClock.now < end {
            if try await isDone() { return true }
            clock.advance(by: .seconds(5))
            await Task.yield()
        }
        return false
    }

    @Test(
        "VL27: a record that a vault refuses, or waits for, keeps no other from being stored", arguments: [true, false])
    func refused(waits: Bool) async throws {
        let (vault, gate) = (TroubledVault(), Gate())
        defer { gate.open() }
        let names = (1...8).map { "a\($0)" }
        let handshake = try await process(names, in: vault)
        let taken = try #require(names.last)
        for name in names.dropLast() { vault.trouble[id(name).vaultKey] = waits ? .waits(gate) : .refused }
        #expect(try await pass { try await stored(taken, in: vault) != nil })
        withExtendedLifetime(handshake) {}
    }

    @Test("VL27: a process that ends waits for a vault no longer than a request may take")
    func bounded() async throws {
        let (vault, gate, ended) = (TroubledVault(), Gate(), Gate())
        defer { gate.open() }
        let handshake = try await process(["a", "b"], in: vault)
        vault.trouble[id("a").vaultKey] = .waits(gate)
        let ending = Task {
            await handshake.finishRefreshes()
            ended.open()
        }
        await clock.sleeper(of: .seconds(20))
        let end = ContinuousClock.now.advanced(by: .seconds(300))
        while try await stored("b", in: vault) == nil, ContinuousClock.now < end { await Task.yield() }
        #expect(try await stored("b", in: vault) != nil && !ended.isOpen)
        clock.advance(by: .seconds(20))
        while !ended.isOpen, ContinuousClock.now < end { await Task.yield() }
        #expect(ended.isOpen)
        gate.open()
        await ending.value
    }

    @Test("VL27: what a vault refuses is tried in pauses that double, up to five minutes")
    func pauses() async throws {
        let vault = TroubledVault()
        let handshake = try await process(in: vault)
        vault.trouble[id("a").vaultKey] = .refused
        var attempts: [Int] = []
        for seconds in stride(from: 5, through: 1_300, by: 5) {
            await clock.sleepers(1)
            let before = vault.refusals.load(ordering: .relaxed)
            clock.advance(by: .seconds(5))
            await clock.sleepers(1)
            if vault.refusals.load(ordering: .relaxed) > before { attempts.append(seconds) }
        }
        #expect(attempts == [5, 15, 35, 75, 155, 315, 615, 915, 1_215])
        withExtendedLifetime(handshake) {}
    }

    @Test(
        "VL27: an answer is stored though the app dropped its Handshake, and its vault is freed also if it refuses it")
    func dropped() async throws {
        for isRefused in [false, true] {
            var vault: TroubledVault? = TroubledVault()
            weak let left = vault
            if let vault {
                _ = try await process(in: vault)
                if isRefused { vault.trouble[id("a").vaultKey] = .refused }
            }
            if !isRefused { #expect(try await pass { try await stored(in: try #require(vault)) == "A2" }) }
            vault = nil
            #expect(try await pass { left == nil })
        }
    }

    @Test("VL27: an answer whose account a failover put back is stored after the newer account")
    func putBack() async throws {
        let vault = TroubledVault()
        try await put("A1", in: vault)
        let handshake = try await process([], in: vault)
        let account = try #require(try await handshake.account("a"))
        try await account.refresh()
        try await fail(account, in: vault)
        vault.trouble[id("a").vaultKey] = nil
        try await put("A1", in: vault)
        vault.trouble[id("a").vaultKey] = .putBack
        #expect(try await pass { try await stored(in: vault) == "A3" })
        withExtendedLifetime(handshake) {}
    }
}

/// A vault that has trouble with some of its records.
private final class TroubledVault: ForwardingVault, RestoringVault {
    enum Trouble {
        /// No vault takes it, as one that is too long.
        case refused
        /// Another process has it until a gate is open.
        case waits(Gate)
        /// A failover put an older one there.
        case putBack
    }

    /// The records with a trouble.
    final class Troubles: Sendable {
        private let all = Mutex<[VaultKey: Trouble]>([:])

        subscript(key: VaultKey) -> Trouble? {
            get { all.withLock { $0[key] } }
            set { all.withLock { $0[key] = newValue } }
        }
    }

    let base = FlakyVault()
    let trouble = Troubles()
    let refusals = Atomic(0)

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        switch trouble[key] {
        case .refused:
            refusals.add(1, ordering: .relaxed)
            throw VaultError.denied(what: "a record", reason: "it is too long")
        case .waits(let gate): await gate.wait()
        case .putBack: throw VaultError.damaged(what: "a record", reason: "it was put back")
        case nil: break
        }
        return try await base.update(key) { try await body(CountedRecord(base: $0)) }
    }

    func restore(
        _ key: VaultKey, from version: Int64, _ newer: @Sendable ([UInt8]) throws -> [UInt8]?
    ) async throws -> Bool {
        let isStored = try await base.update(key) { record in
            guard let bytes = await record.contents, let newer = try newer(bytes) else { return false }
            try await record.replace(with: newer)
            return true
        }
        if isStored { trouble[key] = nil }
        return isStored
    }
}

/// A record whose version is known.
private struct CountedRecord: VersionedRecord {
    let base: any LockedRecord

    var version: Int64? { 1 }
    var contents: [UInt8]? { get async { await base.contents } }
    func replace(with contents: [UInt8]) async throws { try await base.replace(with: contents) }
    func remove() async throws { try await base.remove() }
    func confirm(for time: Duration) async throws { try await base.confirm(for: time) }
}
