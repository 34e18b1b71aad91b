#if CommandLine
import Beacons
import Handshake
import OAuth
import RecurseCenter
import Synchronization
import Testing

@testable import HandshakeCLI
@testable import Nearby

@Suite("What the service has told of members of a circle")
struct AcquaintancesTests {
    private let vault = MemoryVault()
    private let service = CountingService()
    private let zoe = Person(name: "Zoë Ångström", batch: "F2'21")

    @Test("RC-22: a member of a circle has the page of the cached profile, and the service is not asked")
    func page() async throws {
        let number = try UserNumber(65_535)
        let id = try #require(PersonID(65_535))
        let without = try await acquaintances().linked(zoe, number)
        #expect(without == zoe, "there is no cached profile")
        let directory = ProfileDirectory(
            in: vault, community: NearbyCommand.community, account: "recurse-center"
        ) { _ in
            try Profile(JSONValue(parsing: Array(#"{"id":65535,"name":"Zoë Ångström","slug":"65535-zoe"}"#.utf8)))
        }
        _ = try await directory.entry(id)
        let linked = try await acquaintances().linked(zoe, number)
        #expect(linked.page == "https://www.recurse.com/directory/65535-zoe")
        #expect(linked.name == zoe.name && linked.batch == zoe.batch)
        let other = Person(name: "Mallory")
        let unlinked = try await acquaintances().linked(other, number)
        #expect(unlinked == other, "the page would be another person's")
        #expect(service.requests.withLock(\.self) == 0)
    }

    private func acquaintances() async throws -> Acquaintances {
        let grant = Grant(
            accessToken: Secret("pat-1"), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: ["public"])
        let account = try await Handshake(
            Client(service: .recurseCenter, id: "my-app"), vault: MemoryVault(), transport: service
        ).adopt(grant)
        return Acquaintances(RecurseCenter(account, transport: service), in: vault, account: "recurse-center")
    }
}

/// A service that cannot be reached, and how often it was tried.
private final class CountingService: Transport {
    let requests = Mutex(0)

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        requests.withLock { $0 += 1 }
        throw TransportError.cut(host: "www.recurse.com", reason: "no network")
    }
}
#endif
