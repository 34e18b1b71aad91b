import HTTPTypes
import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import ConnectedAccountsUI

@MainActor @Suite("What a screen reader is told of a list of accounts")
struct AnnouncementTests {
    private typealias Said = AccountsNews.Announcement

    /// Answers when a test lets it.
    private final class Held: Transport {
        let list = Gate()
        let disconnection = Gate()
        private let failures: Mutex<Int>

        init(failures: Int = 0) { self.failures = Mutex(failures) }

        func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
            if request.head.path?.hasSuffix("/ticket") == true {
                return ResponseMessage(head: HTTPResponse(status: .notFound), content: [])
            }
            if request.head.method == .post {
                await disconnection.wait()
                return ResponseMessage(
                    head: HTTPResponse(status: .ok), content: Array(#"{"not_revocable":[]}"#.utf8))
            }
            let fails = failures.withLock { count in
                defer { count -= 1 }
                return count > 0
            }
            if fails { return ResponseMessage(head: HTTPResponse(status: .serviceUnavailable), content: []) }
            await list.wait()
            let text = #"{"accounts":[{"service":"standard","state":"signed_in","user":"Ada","token":"t"}]}"#
            return ResponseMessage(head: HTTPResponse(status: .ok), content: Array(text.utf8))
        }
    }

    /// Shows a page on which the user types, until a test says that it is done.
    private struct Typing: Browser {
        let opened = Gate()
        let done = Gate()

        func show(_ page: SignInPage) async throws -> String? {
            opened.open()
            await done.wait()
            return "com.example.app:/accounts"
        }
    }

    private func model(_ transport: Held, _ clock: ManualClock) throws -> ConnectedAccountsModel {
        let model = ConnectedAccountsModel(
            try AccountsServer(
                at: "https://app.example/connect", redirect: "com.example.app:/accounts", transport: transport
            ) { [:] })
        model.clock = clock
        return model
    }

    private static func account(_ service: String) -> ConnectedAccount {
        ConnectedAccount(
            service: service, displayName: "The \(service)", state: .signedIn, userName: nil, isNameAvailable: false,
            lastUse: nil)
    }

    @Test("each beginning, long wait, end and failure is said once, in the order of the list")
    func changes() {
        let accounts = [Self.account("one"), Self.account("two")]
        func said(_ before: AccountsNews, _ after: AccountsNews) -> [Said] {
            after.announcements(since: before, of: accounts)
        }
        let running = AccountsNews(running: ["two": .disconnecting, "one": .connecting])
        #expect(
            said(AccountsNews(), running)
                == [Said(words: .opening, name: "The one"), Said(words: .disconnecting, name: "The two")])
        let long = AccountsNews(running: running.running, slow: ["two"])
        #expect(said(running, long) == [Said(words: .slow)])
        #expect(said(long, long) == [])
        let ended = AccountsNews(outcomes: ["one": .cancelled, "two": .disconnected])
        #expect(
            said(long, ended)
                == [Said(words: .cancelled, name: "The one"), Said(words: .nowDisconnected, name: "The two")])
        let unavailable = AccountsNews(outcomes: ended.outcomes, failure: .unavailable)
        #expect(said(ended, unavailable) == [Said(words: .unavailable)])
        #expect(said(unavailable, AccountsNews(failure: .loggedOut)) == [Said(words: .loggedOut)])
        #expect(said(unavailable, AccountsNews(isLoadSlow: true)) == [Said(words: .slow)])
        #expect(said(AccountsNews(), AccountsNews(outcomes: ["three": .connected])) == [], "it is not in the list")
    }

    @Test("after five seconds the model says that a wait is long, until it is over")
    func waits() async throws {
        let (transport, clock) = (Held(), ManualClock())
        let model = try model(transport, clock)
        let loading = Task { await model.load() }
        await clock.sleeper(for: .seconds(5))
        #expect(model.news == AccountsNews())
        clock.advance(by: .seconds(5))
        while !model.isLoadSlow { await Task.yield() }
        #expect(model.news == AccountsNews(isLoadSlow: true))
        transport.list.open()
        await loading.value
        #expect(model.news == AccountsNews() && model.accounts.count == 1)
        model.disconnect("standard")
        await clock.sleeper(for: .seconds(5))
        #expect(model.news == AccountsNews(running: ["standard": .disconnecting]))
        clock.advance(by: .seconds(5))
        while model.slow.isEmpty { await Task.yield() }
        #expect(model.news == AccountsNews(running: ["standard": .disconnecting], slow: ["standard"]))
        transport.disconnection.open()
        await model.finish("standard")
        #expect(model.news == AccountsNews(outcomes: ["standard": .disconnected]))
    }

    @Test("a user who signs in at the service may take as long as that needs")
    func typing() async throws {
        let (transport, clock, browser) = (Held(), ManualClock(), Typing())
        let model = try model(transport, clock)
        transport.list.open()
        await model.load()
        model.connect("standard", through: browser)
        await browser.opened.wait()
        for _ in 0..<1_000 {
            clock.advance(by: .seconds(5))
            await Task.yield()
        }
        #expect(model.news == AccountsNews(running: ["standard": .connecting]))
        browser.done.open()
        await model.finish("standard")
        #expect(model.news == AccountsNews(outcomes: ["standard": .connected]))
    }

    @Test("a user who tries again sees that it is tried")
    func again() async throws {
        let (transport, clock) = (Held(failures: 1), ManualClock())
        let model = try model(transport, clock)
        await model.load()
        #expect(model.failure == .unavailable)
        let loading = Task { await model.load() }
        await clock.sleeper(for: .seconds(5))
        #expect(model.failure == nil && model.accounts == [])
        transport.list.open()
        await loading.value
        #expect(model.failure == nil && model.accounts.count == 1)
    }
}
