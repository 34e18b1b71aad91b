import Foundation
import Handshake
import IFTTTConnect
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import ConnectButton

@Suite("The model of a button, at the sandbox", .heavy)
@MainActor struct ConnectButtonModelTests {
    /// Runs a model while a body does.
    private func running(_ model: ConnectButtonModel, _ body: () async throws -> Void) async throws {
        let task = Task { await model.run() }
        do {
            try await body()
        } catch {
            task.cancel()
            await task.value
            throw error
        }
        task.cancel()
        await task.value
    }

    @Test("a new user turns on and off again; the app hears both, and the token is in the vault")
    func onAndOff() async throws {
        try await ModelScene.run { scene in
            let accounts = try scene.accounts()
            let model = try scene.model(of: accounts) { try await ModelScene.agree($0) }
            let heard = Heard(model)
            #expect(model.state.step == .loading && model.connection == nil)
            try await running(model) {
                await until { model.state.step == .connect }
                #expect(model.connection?.id.rawValue == ModelScene.connection)
                await ModelScene.submitEmail(model)
                await until { heard.events == ["connected enabled"] }
                #expect(model.state.step == .connected)
                let token = try await UserTokens(in: accounts).token()
                #expect(token != nil)
                model.send(.turnOff)
                await until { model.state.step == .confirmDisconnect }
                model.send(.disconnect)
                await until { heard.events.count == 2 }
            }
            #expect(heard.events == ["connected enabled", "disconnected disabled"])
        }
    }

    @Test("a second run returns immediately, so that the app hears each outcome once")
    func secondRun() async throws {
        try await ModelScene.run { scene in
            let model = try scene.model { try await ModelScene.agree($0) }
            let heard = Heard(model)
            try await running(model) {
                await until { model.state.step == .connect }
                let second = Task { await model.run() }
                await ModelScene.submitEmail(model)
                await until { heard.events.contains("connected enabled") }
                model.send(.turnOff)
                await until { model.state.step == .confirmDisconnect }
                // Without cancellation: it has returned on its own.
                await second.value
            }
            #expect(heard.events == ["connected enabled"])
        }
    }

    @Test("F112: a view that is back while its cancelled run is still ending works afterwards")
    func quickReturn() async throws {
        try await ModelScene.run { scene in
            let (isAway, isBack, ended) = (Gate(), Gate(), Gate())
            // A browser that ignores cancellation.
            let model = try scene.model { _ in
                isAway.open()
                await isBack.wait()
                return nil
            }
            let first = Task { await model.run() }
            await ModelScene.submitEmail(model)
            await isAway.wait()
            first.cancel()
            let second = Task {
                await model.run()
                ended.open()
            }
            for _ in 0..<500 { await Task.yield() }
            let isOver = ended.isOpen
            isBack.open()
            await first.value
            try #require(!isOver)
            await until { model.state.step == .connect }
            model.send(.turnOn)
            await until { model.state.step == .email }
            second.cancel()
            await second.value
        }
    }

    @Test("what the pages end with is shown, and told once")
    func failure() async throws {
        try await ModelScene.run { scene in
            let model = try scene.model { visitor in
                try await visitor.submit([("outcome", "user_cancelled_configuration")])
                return visitor.left
            }
            let heard = Heard(model)
            try await running(model) {
                await until { model.state.step == .connect }
                model.send(.turnOn)
                await until { model.state.step == .email }
                model.send(.email("no address"))
                await until { heard.events == ["failed invalid_email"] }
                model.send(.email(model.email))
                await until { heard.events.count == 2 && model.state.step == .connect }
                #expect(model.state.failure != nil)
                model.send(.turnOn)
                await until { model.state.failure == nil }
            }
            #expect(heard.events.count == 2, "\(heard.events)")
        }
    }

    @Test("what is prefetched is shown before anything runs, and another connection's description is refused")
    func prefetched() async throws {
        try await ModelScene.run { scene in
            let api = ConnectAPI(
                at: Hosts(allAt: try EndpointURL(scene.sandbox.ifttt.origin, security: .allowingInsecureLoopback)))
            let found = try await api.connection(try ConnectionID(ModelScene.connection))
            let model = try scene.model(prefetched: found) { _ in nil }
            #expect(model.state.step == .connect && model.connection == found)
            let foreign = ConnectError.input(
                member: "connection", problem: "the configuration is for zZ9yY8xX, not for \(ModelScene.connection)")
            #expect(throws: foreign) {
                try ConnectButtonModel(
                    "zZ9yY8xX", accounts: try scene.accounts(),
                    environment: ConnectEnvironment(browser: Person { _ in nil }, tokens: .redirect), prefetched: found)
            }
        }
    }

    @Test("an attempt survives the process: its redirect counts in the next one, and in no other user's")
    func nextProcess() async throws {
        try await ModelScene.run { scene in
            let redirect = Mutex<String?>(nil)
            let first = try scene.model { visitor in
                let url = try await ModelScene.agree(visitor)
                redirect.withLock { $0 = url }
                // The process ends before it is opened with the address.
                try await waitForCancellation()
                return nil
            }
            try await running(first) {
                await scene.leaveForService(first)
                while redirect.withLock({ $0 }) == nil { await Task.yield() }
            }
            let address = try #require(redirect.withLock { $0 })
            let url = try #require(URL(string: address))

            let other = try scene.model(as: "another") { _ in nil }
            let overheard = Heard(other)
            #expect(other.open(url))
            try await running(other) {
                await until { other.state.step == .connect }
                // Nothing came of it.
                other.refresh()
                #expect(overheard.events == [] && other.state.step == .connect)
            }

            let next = try scene.model { _ in nil }
            let heard = Heard(next)
            #expect(!next.open(try #require(URL(string: "com.example.other:/connect"))))
            #expect(next.open(url), "before anything runs")
            try await running(next) { await until { heard.events == ["connected enabled"] } }

            // Once it has counted, nothing of it is left.
            let last = try scene.model { _ in nil }
            let unheard = Heard(last)
            last.open(url)
            try await running(last) {
                await until { last.state.step == .connected }
                #expect(unheard.events == [])
            }
        }
    }

    @Test("F028: a redirect that every button of its callback is offered counts for the one whose attempt it is")
    func sharedCallback() async throws {
        try await ModelScene.run { scene in
            let accounts = try scene.accounts()
            let (addresses, arrived) = AsyncStream.makeStream(of: String.self)
            let away = try scene.model(of: accounts) { visitor in
                if let address = try await ModelScene.agree(visitor) { arrived.yield(address) }
                // This browser returns nothing: the app is opened with the address.
                try await waitForCancellation()
                return nil
            }
            let other = try scene.model(as: "another", of: accounts) { _ in nil }
            let (heard, overheard) = (Heard(away), Heard(other))
            try await running(other) {
                await until { other.state.step == .connect }
                try await running(away) {
                    await scene.leaveForService(away)
                    var address = ""
                    for await next in addresses {
                        address = next
                        break
                    }
                    let callback = ConnectCallback(try #require(URL(string: address)), number: 1)
                    for model in [other, away] { callback.offer(to: model) }
                    await until { heard.events == ["connected enabled"] }
                }
                #expect(overheard.events == [] && other.state.step == .connect && other.state.failure == nil)
            }
        }
    }

    @Test("what rests in the vault for the next process is gone once the user cancels, and when the user logs out")
    func forgotten() async throws {
        try await ModelScene.run { scene in
            for isCancelled in [true, false] {
                let model = try scene.model { _ in nil }
                try await running(model) {
                    await scene.leaveForService(model)
                    if isCancelled {
                        model.send(.cancel)
                    } else {
                        try await model.signOut()
                    }
                    await until { model.state.step == .connect }
                    while await scene.attempt() != nil { await Task.yield() }
                }
                #expect(await scene.attempt() == nil)
            }
        }
    }

    @Test("F043: what the user finishes at IFTTT after Cancel is shown and told, with its token")
    func finishedAfterCancel() async throws {
        try await ModelScene.run { scene in
            let accounts = try scene.accounts()
            let isCancelled = Gate()
            let (addresses, arrived) = AsyncStream.makeStream(of: String.self)
            // IFTTT's page stays open elsewhere, and the app is opened with its redirect.
            let model = try scene.model(of: accounts) { visitor in
                await isCancelled.wait()
                if let address = try await ModelScene.agree(visitor) { arrived.yield(address) }
                return nil
            }
            let heard = Heard(model)
            try await running(model) {
                await scene.leaveForService(model)
                model.send(.cancel)
                await until { model.state.step == .connect }
                isCancelled.open()
                var address = ""
                for await next in addresses {
                    address = next
                    break
                }
                let redirect = try #require(URL(string: address))
                #expect(model.open(redirect))
                await until { heard.events == ["connected enabled"] }
                #expect(model.state.step == .connected && model.state.failure == nil)
            }
            #expect(try await UserTokens(in: accounts).token() != nil)
        }
    }

    @Test("W1: the time to undo runs also while no view shows it, and is full again the next time")
    func undo() async throws {
        try await ModelScene.run { scene in
            let now = Mutex(1_735_689_600.0)
            let accounts = try scene.accounts(at: TimeSource(now: { now.withLock { $0 } }, clock: ManualClock()))
            let model = try scene.model(of: accounts, disconnection: .undoable(seconds: 10)) {
                try await ModelScene.agree($0)
            }
            try await running(model) {
                await ModelScene.submitEmail(model)
                await until { model.state.step == .connected }
                model.send(.turnOff)
                await until { model.state.step == .disconnecting }
                #expect(model.state.undo == ConnectButtonUndo(remaining: 10, total: 10))
                // A clock that was set back gives no more than there was.
                for (seconds, left) in [(4.0, 6.0), (-60, 10), (120, 0)] {
                    now.withLock { $0 += seconds }
                    #expect(model.state.undo == ConnectButtonUndo(remaining: left, total: 10))
                }
                model.send(.undo)
                await until { model.state.step == .connected }
                #expect(model.state.undo == nil)
                model.send(.turnOff)
                await until { model.state.step == .disconnecting }
                #expect(model.state.undo == ConnectButtonUndo(remaining: 10, total: 10))
                model.send(.undo)
                await until { model.state.step == .connected }
            }
        }
    }

    @Test("F105: what a button does is logged where its app wants it, and nothing that is the user's")
    func log() async throws {
        try await ModelScene.run { scene in
            let lines = LogLines()
            let model = try scene.model(log: lines.logger) { try await ModelScene.agree($0) }
            let heard = Heard(model)
            try await running(model) {
                await ModelScene.submitEmail(model)
                await until { heard.events == ["connected enabled"] }
            }
            #expect(lines.all.contains("debug state from=loading to=initial"), "\(lines.all)")
            #expect(lines.all.contains("info ended outcome=connected"), "\(lines.all)")
            for line in lines.all { #expect(!line.contains("example.test") && !line.contains("http"), "\(line)") }
        }
    }

    @Test("a connection that was turned on without configuration asks the app for it")
    func setUp() async throws {
        try await ModelScene.run { scene in
            let model = try scene.model(skipsConfiguration: true) { visitor in
                try await visitor.press("allow")
                if visitor.left == nil { try await visitor.press("yes") }
                return visitor.left
            }
            let heard = Heard(model)
            try await running(model) {
                await ModelScene.submitEmail(model)
                await until { model.state.step == .pending }
                model.send(.setUp)
                await until { heard.events.last == "set up \(ModelScene.connection)" }
            }
        }
    }

    @Test("finish set-up opens IFTTT's page that manages the connection, unless the app has its own")
    func setUpPage() async throws {
        try await ModelScene.run { scene in
            let model = try scene.model(skipsConfiguration: true) { visitor in
                try await visitor.press("allow")
                if visitor.left == nil { try await visitor.press("yes") }
                return visitor.left
            }
            try await running(model) {
                await until { model.state.step == .connect }
                #expect(model.setUpPage == nil, "nothing is to be set up")
                await ModelScene.submitEmail(model)
                await until { model.state.step == .pending }
                let page = try #require(model.setUpPage)
                #expect(page == model.state.manageURL && page.path().hasSuffix("/edit"))
                model.send(.setUp)
                #expect(model.state.step == .pending)
                model.onSetUp = { _ in model.configurationSaved() }
                #expect(model.setUpPage == nil)
                model.send(.setUp)
                await until { model.state.step == .connected }
            }
        }
    }

    @Test("F032: while IFTTT's page is open, the button tells nothing of what IFTTT does")
    func pageOpen() async throws {
        try await ModelScene.run { scene in
            let model = try scene.model { _ in nil }
            try await running(model) {
                await scene.leaveForService(model)
                #expect(model.state.step == .goingToService && model.state.email == nil)
            }
        }
    }

    @Test("accounts without one client of IFTTT are refused, with the reason")
    func accounts() async throws {
        let other = Client(
            service: .recurseCenter, id: "garden", redirect: .uri(try RedirectURI("com.example.garden:/other")))
        let accounts = try Handshake(other, vault: MemoryVault())
        let environment = ConnectEnvironment(browser: Person { _ in nil }, tokens: .redirect)
        let error = #expect(throws: ConnectError.self) {
            try ConnectButtonModel(ModelScene.connection, accounts: accounts, environment: environment)
        }
        #expect(error.map { "\($0)".contains("one client of") } == true)
        let client = Client(
            service: .ifttt, id: "garden", redirect: .uri(try RedirectURI("com.example.garden:/connect")))
        let right = try Handshake(client, vault: MemoryVault())
        #expect {
            try ConnectButtonModel("not an identifier", accounts: right, environment: environment)
        } throws: {
            if case ConnectError.input("connection", _) = $0 { true } else { false }
        }
    }
}
