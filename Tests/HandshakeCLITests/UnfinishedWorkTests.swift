import HTTPTypes
import Handshake
import OAuth
import Sequencing
import Testing

@testable import HandshakeCLI

@Suite("What is unfinished when a user signs in")
struct UnfinishedWorkTests {
    private let vault = MemoryVault()

    private struct Approval: Browser {
        func show(_ page: SignInPage) async throws -> String? {
            let query = page.url.split(separator: "?").last?.split(separator: "&") ?? []
            return "\(page.redirectURI.string)?code=1&\(query.first { $0.hasPrefix("state=") } ?? "")"
        }
    }

    /// Answers every request for a token, and says who the user is.
    private struct Server: Transport {
        let subject: String?

        func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            let token = #"{"access_token":"3f0c9a51d6b24e77","token_type":"Bearer","expires_in":3600,"scope":"demo"}"#
            let isToken = request.head.path?.hasPrefix("/oauth2/token") ?? false
            guard let text = isToken ? token : subject.map({ #"{"uid":"\#($0)"}"# }) else {
                throw TransportError.unreachable(host: "sequencing.com", reason: "the test says so")
            }
            return ResponseMessage(head: .init(status: .ok), content: Array(text.utf8))
        }
    }

    private func signIn(_ subject: String?, client: String = "one") async throws -> Account {
        let client = Client(
            service: .sequencing, id: client, redirect: .uri(try RedirectURI("com.example.genome:/callback")))
        // A calendar that stands still: no sign-in expires while other tests use the processor.
        let time = TimeSource(now: { 1_795_000_000 }, clock: ContinuousClock())
        return try await Handshake(client, vault: vault, transport: Server(subject: subject), time: time)
            .signIn(through: Approval())
    }

    private func keys(_ account: AccountID) -> [VaultKey] {
        [account.vaultKey(.imports), account.vaultKey(.jobs)]
    }

    private func fill(_ account: AccountID) async throws {
        for key in keys(account) { try await vault.update(key) { try await $0.replace(with: Array("[]".utf8)) } }
    }

    private func count(_ account: AccountID) async throws -> Int {
        var count = 0
        for key in keys(account) { if try await vault.record(key) != nil { count += 1 } }
        return count
    }

    @Test(
        "another user, or one that the service does not tell, gets none of it; the same user keeps it",
        arguments: [
            ("1", "1", 2), ("1", "2", 0), (nil, "1", 0), ("1", nil, 0), (nil, nil, 0),
        ] as [(String?, String?, Int)])
    func users(_ earlier: String?, _ later: String?, left: Int) async throws {
        let first = try await signIn(earlier)
        try await fill(first.id)
        let work = await UnfinishedWork(of: first, in: vault)
        #expect(work.subject == earlier)
        try await work.pass(to: try await signIn(later), from: first.id, in: vault)
        #expect(try await count(first.id) == left)
    }

    @Test("nothing is left of an account that was made with another client")
    func anotherClient() async throws {
        let first = try await signIn("1")
        try await fill(first.id)
        let work = await UnfinishedWork(of: first, in: vault)
        let second = try await signIn("1", client: "two")
        try await work.pass(to: second, from: first.id, in: vault)
        #expect(try await count(first.id) == 0)
    }
}

@Suite("The wait for imports")
struct ImportClockTests {
    @Test("it ends before the command's deadline, and after 10 minutes at most")
    func limit() {
        #expect(ImportClock.limit(1) == .milliseconds(900))
        #expect(ImportClock.limit(100) == .seconds(90))
        #expect(ImportClock.limit(660) == .seconds(600))
        #expect(ImportClock.limit(86_400) == .seconds(600))
    }
}
